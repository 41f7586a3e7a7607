"""Conversions as the brand reads them, through HTTP."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from models import conversions, db, ids
from tests.api.lists import cursors_are_refused, trips_of
from tests.brands import Brand

URL = "/api/v1/conversions"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign at 20 % and the affiliate ben."""
    brand.program()
    brand.affiliate("ben")
    return brand


def _insert(brand, affiliate_id=None, **columns) -> str:
    """Insert a conversion past the sale pipeline, for the kinds that no route makes yet."""
    now = datetime.now(UTC)
    (owner,) = brand.rows(
        "select id, program_id from affiliate where %s::uuid is null or id = %s order by created_at limit 1",
        affiliate_id,
        affiliate_id,
    )  # noqa: E501
    values = {
        "id": ids.new_id(), "organization_id": brand.id, "affiliate_id": owner[0], "program_id": owner[1],
        "source": "test", "external_event_id": str(uuid4()), "amount_cents": 1000, "currency": "USD",
        "commission_cents": 200, "status": "Pending", "type": "OneTime", "rate_source": "program", "rate_type": None,
        "rate_value": None, "is_test": False, "occurred_at": now, "hold_until": now, "created_at": now,
    } | columns  # fmt: skip
    with db.unit_of_work(brand.id):
        conversions.stage_insert(conversions.Conversion(**values))
    return str(values["id"])


def _ids(answer):
    assert answer.status_code == 200, answer.data
    return [item["id"] for item in answer.json["items"]]


def test_a_sale_is_shown_with_its_history(campaign, drain):
    sale = campaign.sale(
        externalEventId="order-x", customerId="cus_1", customerName="Cleo", subId="News-May", customerEmail="c@x.test"
    )
    drain()

    shown = campaign.get(f"{URL}/{sale.json['conversionId']}").json

    moments = ("createdAt", "occurredAt")
    (line,) = shown["events"]
    assert {name: value for name, value in shown.items() if name not in (*moments, "events")} == {
        "id": sale.json["conversionId"],
        "affiliateId": str(campaign.rows("select id from affiliate")[0][0]),
        "programId": str(campaign.programs[-1]),
        "amountCents": 10_000,
        "currency": "USD",
        "commissionCents": 2_000,
        "originalCommissionCents": 2_000,
        "commissionReversedCents": 0,
        "refundedAmountCents": 0,
        "status": "Pending",
        "type": "OneTime",
        "processorSubscriptionId": None,
        "processorCustomerId": "cus_1",
        "externalEventId": "order-x",
        "refundedAt": None,
        "attributionMethod": None,
        "couponCode": None,
        "subId": "news-may",
        "payability": "payable",
        "parentAffiliateConversionId": None,
        "locked": False,
        "customerName": "Cleo",
        "customerAvatarUrl": None,
    }
    assert all(shown[moment].endswith("Z") for moment in moments)
    assert {name: line[name] for name in line if name not in ("id", "occurredAt")} == {
        "eventType": "initial",
        "amountCents": 10_000,
        "commissionCents": 2_000,
    }


def test_an_id_that_was_given_out_is_found_before_any_worker_ran(campaign, drain):
    sale = campaign.sale()

    early = campaign.get(f"{URL}/{sale.json['conversionId']}")
    drain()
    late = campaign.get(f"{URL}/{sale.json['conversionId']}")

    assert (early.status_code, early.json["commissionCents"]) == (200, 2_000)
    assert late.json == early.json
    assert campaign.rows("select count(*) from conversion") == [(1,)]
    assert campaign.rows("select count(*) from ledger_entry") == [(1,)]


def test_a_key_that_only_reads_is_told_too(campaign):
    sale = campaign.sale()

    assert campaign.other_key(scope="read").get(f"{URL}/{sale.json['conversionId']}").status_code == 200


def test_a_read_that_settles_wakes_the_relay(campaign, monkeypatch):
    woken = []
    monkeypatch.setattr("api.conversions.wake_relay", lambda: woken.append(1))
    conversion_id = campaign.sale().json["conversionId"]

    campaign.get(f"{URL}/{conversion_id}")
    campaign.get(f"{URL}/{conversion_id}")

    assert woken == [1]


def test_another_tenant_neither_sees_nor_settles(campaign, rival):
    conversion_id = campaign.sale().json["conversionId"]

    answer = rival.get(f"{URL}/{conversion_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert campaign.rows("select count(*) from conversion") == [(0,)]


def test_commission_is_what_is_still_earned(campaign, drain):
    conversion_id = campaign.sale(externalEventId="order-r").json["conversionId"]
    campaign.refund("order-r", 4_000)
    drain()

    partly = campaign.get(f"{URL}/{conversion_id}").json
    campaign.refund("order-r")
    drain()
    wholly = campaign.get(f"{URL}/{conversion_id}").json

    amounts = (
        "amountCents",
        "commissionCents",
        "originalCommissionCents",
        "commissionReversedCents",
        "refundedAmountCents",
    )
    assert [partly[name] for name in amounts] == [10_000, 1_200, 2_000, 800, 4_000]
    assert (partly["status"], partly["refundedAt"]) == ("Pending", None)
    assert [wholly[name] for name in amounts] == [10_000, 0, 2_000, 2_000, 10_000]
    assert wholly["status"] == "Refunded"
    assert wholly["refundedAt"].endswith("Z")
    assert [line["eventType"] for line in wholly["events"]] == ["initial", "refund", "refund"]


def test_an_override_names_its_parent(campaign, drain):
    campaign.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
    rita = campaign.affiliate("rita")
    campaign.affiliate("cleo", recruited_by_affiliate_id=rita)
    conversion_id = campaign.sale(affiliateSlug="cleo", externalEventId="order-o").json["conversionId"]
    drain()

    (override,) = campaign.get(f"{URL}?affiliateId={rita}").json["items"]

    assert override["parentAffiliateConversionId"] == conversion_id
    assert override["attributionMethod"] == "sub_affiliate_override"
    assert override["externalEventId"] == f"order-o:override:{rita.hex}"
    assert (override["amountCents"], override["commissionCents"]) == (0, 200)


def test_the_list_walks_all_conversions_newest_first(campaign, rival):
    made = [_insert(campaign) for _ in range(5)]
    rival.program()
    rival.affiliate("ben")
    _insert(rival)

    first = campaign.get(f"{URL}?take=2")
    second = campaign.get(f"{URL}?take=2&cursor={first.json['nextCursor']}")
    third = campaign.get(f"{URL}?take=2&cursor={second.json['nextCursor']}")

    assert _ids(first) + _ids(second) + _ids(third) == made[::-1]
    assert (third.json["hasMore"], third.json["nextCursor"]) == (False, None)
    assert "events" not in first.json["items"][0]


def test_conversions_of_one_moment_are_all_listed(campaign):
    moment = datetime.now(UTC)
    made = {_insert(campaign, created_at=moment) for _ in range(4)}

    first = campaign.get(f"{URL}?take=3")
    second = campaign.get(f"{URL}?take=3&cursor={first.json['nextCursor']}")

    assert {*_ids(first), *_ids(second)} == made


def test_a_page_has_a_hundred_rows_and_at_most_two_hundred(campaign):
    for _ in range(201):
        _insert(campaign)

    assert len(_ids(campaign.get(URL))) == 100
    assert len(_ids(campaign.get(f"{URL}?take=500"))) == 200


def test_the_list_is_narrowed_by_affiliate_and_program(campaign, rival):
    ben = _insert(campaign)
    other_program = campaign.program()
    cleo_id = campaign.affiliate("cleo")
    cleo = _insert(campaign, cleo_id)
    rival.program()

    assert _ids(campaign.get(f"{URL}?affiliateId={cleo_id}")) == [cleo]
    assert _ids(campaign.get(f"{URL}?programId={other_program}")) == [cleo]
    assert _ids(campaign.get(f"{URL}?programId={campaign.programs[0]}")) == [ben]
    assert _ids(campaign.get(f"{URL}?programId={rival.programs[0]}")) == []


@pytest.mark.parametrize("status", ["Pending", "Approved", "Paid", "Denied", "Refunded", "Invalidated"])
def test_the_list_is_narrowed_by_status(campaign, status):
    made = {
        each: _insert(campaign, status=each)
        for each in ("Pending", "Approved", "Paid", "Denied", "Refunded", "Invalidated")
    }

    assert _ids(campaign.get(f"{URL}?status={status}")) == [made[status]]


def test_the_list_is_narrowed_by_kind(campaign):
    made = {
        each: _insert(campaign, type=each) for each in ("OneTime", "Recurring", "Bonus", "LeadReward", "ClickReward")
    }

    assert _ids(campaign.get(f"{URL}?kind=lead")) == [made["LeadReward"]]
    assert _ids(campaign.get(f"{URL}?kind=click")) == [made["ClickReward"]]
    assert _ids(campaign.get(f"{URL}?kind=sale")) == [made["Bonus"], made["Recurring"], made["OneTime"]]


def test_the_list_is_narrowed_by_tag(campaign):
    tagged, plain = _insert(campaign, sub_id="news"), _insert(campaign)

    assert _ids(campaign.get(f"{URL}?subId=News")) == [tagged]
    assert _ids(campaign.get(f"{URL}?subId=untagged")) == [plain]
    assert _ids(campaign.get(f"{URL}?subId=other")) == []


def test_the_list_is_narrowed_by_time(campaign):
    today = datetime.now(UTC)
    _insert(campaign, created_at=today - timedelta(days=3))
    recent = _insert(campaign, created_at=today)

    since = (today - timedelta(days=2)).date().isoformat()

    assert _ids(campaign.get(f"{URL}?since={since}")) == [recent]
    assert _ids(campaign.get(f"{URL}?since={since}T00:00:00Z")) == [recent]
    assert _ids(campaign.get(f"{URL}?since={since}T00:00:00%2B02:00")) == [recent]


def test_filters_add_up_and_pages_keep_them(campaign):
    made = [_insert(campaign, status="Approved", sub_id="news") for _ in range(3)]
    _insert(campaign, status="Approved")
    _insert(campaign, sub_id="news")
    query = f"{URL}?status=Approved&subId=news&kind=sale&take=2"

    first = campaign.get(query)
    second = campaign.get(f"{query}&cursor={first.json['nextCursor']}")

    assert _ids(first) + _ids(second) == made[::-1]


@pytest.mark.parametrize(
    "query",
    [
        "take=0",
        "take=-5",
        "take=abc",
        "status=pending",
        "status=Processing",
        "kind=bonus",
        "since=yesterday",
        "since=",
        "since=9999999999999999",
        "affiliateId=ben",
        "programId=1",
        "subId=%00",
        "subId=***",
        "cursor=abc",
    ],
)
def test_a_query_that_says_nothing_sensible_is_refused(campaign, query):
    answer = campaign.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [query.split("=")[0]]


@pytest.mark.parametrize(
    ("since", "status"),
    [
        ("0001-01-01", 200),
        ("9999-12-31T23:59:59.999999Z", 200),
        ("2026-01-01T00:00:00%2B23:59", 200),
        ("0001-01-01T00:00:00%2B23:59", 400),
        ("9999-12-31T23:59:59-23:59", 400),
    ],
)
def test_the_ends_of_time_break_nothing(campaign, since, status):
    assert campaign.get(f"{URL}?since={since}").status_code == status


def test_a_cursor_is_good_for_its_own_list_alone(campaign, rival):
    campaign.affiliate("cleo")
    rival.program()
    rival.affiliate("ben")
    for owner in (campaign, campaign, rival, rival):
        _insert(owner)

    cursors_are_refused(campaign, URL, foreign=(rival, URL), other=(campaign, "/api/v1/affiliates"))


def test_a_list_costs_the_same_for_one_conversion_and_for_many(campaign):
    _insert(campaign)
    one = trips_of(lambda: campaign.get(URL))
    for _ in range(9):
        _insert(campaign)

    assert trips_of(lambda: campaign.get(URL)) == one


@pytest.mark.parametrize("conversion_id", ["nonsense", str(UUID(int=0)), "export.json"])
def test_what_is_no_id_names_no_conversion(campaign, conversion_id):
    answer = campaign.get(f"{URL}/{conversion_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_plans_are_asked_for(app):
    free = Brand.create(app, plan="Free")

    assert free.get(URL).status_code == 402
    assert free.get(f"{URL}/{uuid4()}").status_code == 402
