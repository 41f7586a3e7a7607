"""The list of conversions and its filters, through HTTP."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import orjson
import pytest

from models import db, ids
from models.conversions import conversions
from tests.support.api.lists import assert_foreign_cursors_refused, count_round_trips

URL = "/api/v1/conversions"


def _insert(brand, affiliate_id=None, **columns) -> str:
    """Insert a conversion without the sale pipeline, for kinds that no route creates yet."""
    now = datetime.now(UTC)
    (owner,) = brand.rows(
        "select id, program_id from affiliate where %s::uuid is null or id = %s order by created_at limit 1",
        affiliate_id,
        affiliate_id,
    )
    values = {
        "id": ids.new_id(), "organization_id": brand.id, "affiliate_id": owner[0], "program_id": owner[1],
        "source": "test", "external_event_id": str(uuid4()), "amount_cents": 1000, "currency": "USD",
        "commission_cents": 200, "status": "Pending", "type": "OneTime", "rate_source": "program", "rate_type": None,
        "rate_value": None, "is_test": False, "occurred_at": now, "hold_until": now, "created_at": now,
    } | columns  # fmt: skip
    with db.unit_of_work(brand.id):
        conversions.stage_insert([conversions.Conversion(**values)])
    return str(values["id"])


def _ids(answer):
    assert answer.status_code == 200, answer.data
    return [item["id"] for item in answer.json["items"]]


def test_list_pages_through_all_conversions_newest_first(campaign, rival):
    ids = [_insert(campaign) for _ in range(5)]
    rival.program()
    rival.affiliate("ben")
    _insert(rival)

    first = campaign.get(f"{URL}?take=2")
    second = campaign.get(f"{URL}?take=2&cursor={first.json['nextCursor']}")
    third = campaign.get(f"{URL}?take=2&cursor={second.json['nextCursor']}")

    assert _ids(first) + _ids(second) + _ids(third) == ids[::-1]
    assert (third.json["hasMore"], third.json["nextCursor"]) == (False, None)
    assert "events" not in first.json["items"][0]


def test_conversions_with_equal_timestamps_are_all_listed(campaign):
    moment = datetime.now(UTC)
    ids = {_insert(campaign, created_at=moment) for _ in range(4)}

    first = campaign.get(f"{URL}?take=3")
    second = campaign.get(f"{URL}?take=3&cursor={first.json['nextCursor']}")

    assert {*_ids(first), *_ids(second)} == ids


def test_page_has_a_hundred_rows_and_at_most_two_hundred(campaign):
    for _ in range(201):
        _insert(campaign)

    assert len(_ids(campaign.get(URL))) == 100
    assert len(_ids(campaign.get(f"{URL}?take=500"))) == 200


def test_list_is_filtered_by_affiliate_and_program(campaign, rival):
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
def test_list_is_filtered_by_status(campaign, status):
    ids_by_status = {
        each: _insert(campaign, status=each)
        for each in ("Pending", "Approved", "Paid", "Denied", "Refunded", "Invalidated")
    }

    assert _ids(campaign.get(f"{URL}?status={status}")) == [ids_by_status[status]]


def test_list_is_filtered_by_kind(campaign):
    ids_by_type = {
        each: _insert(campaign, type=each) for each in ("OneTime", "Recurring", "Bonus", "LeadReward", "ClickReward")
    }

    assert _ids(campaign.get(f"{URL}?kind=lead")) == [ids_by_type["LeadReward"]]
    assert _ids(campaign.get(f"{URL}?kind=click")) == [ids_by_type["ClickReward"]]
    assert _ids(campaign.get(f"{URL}?kind=sale")) == [
        ids_by_type["Bonus"],
        ids_by_type["Recurring"],
        ids_by_type["OneTime"],
    ]


def test_list_is_filtered_by_tag(campaign):
    tagged, plain = _insert(campaign, sub_id="news"), _insert(campaign)

    assert _ids(campaign.get(f"{URL}?subId=News")) == [tagged]
    assert _ids(campaign.get(f"{URL}?subId=untagged")) == [plain]
    assert _ids(campaign.get(f"{URL}?subId=other")) == []


def test_list_is_filtered_by_time(campaign):
    today = datetime.now(UTC)
    _insert(campaign, created_at=today - timedelta(days=4))  # outside the period in every time zone below
    recent = _insert(campaign, created_at=today)

    since = (today - timedelta(days=2)).date().isoformat()

    assert _ids(campaign.get(f"{URL}?since={since}")) == [recent]
    assert _ids(campaign.get(f"{URL}?since={since}T00:00:00Z")) == [recent]
    assert _ids(campaign.get(f"{URL}?since={since}T00:00:00%2B02:00")) == [recent]


def test_filters_combine_and_apply_to_every_page(campaign):
    ids = [_insert(campaign, status="Approved", sub_id="news") for _ in range(3)]
    _insert(campaign, status="Approved")
    _insert(campaign, sub_id="news")
    query = f"{URL}?status=Approved&subId=news&kind=sale&take=2"

    first = campaign.get(query)
    second = campaign.get(f"{query}&cursor={first.json['nextCursor']}")

    assert _ids(first) + _ids(second) == ids[::-1]


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
def test_invalid_query_is_refused(campaign, query):
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
def test_extreme_times_cause_no_server_error(campaign, since, status):
    assert campaign.get(f"{URL}?since={since}").status_code == status


def test_cursor_of_another_list_is_refused(campaign, rival):
    campaign.affiliate("cleo")
    rival.program()
    rival.affiliate("ben")
    for owner in (campaign, campaign, rival, rival):
        _insert(owner)

    assert_foreign_cursors_refused(campaign, URL, foreign=(rival, URL), other=(campaign, "/api/v1/affiliates"))


def test_round_trips_do_not_grow_with_conversions(campaign):
    _insert(campaign)
    trips_before = count_round_trips(lambda: campaign.get(URL))
    for _ in range(9):
        _insert(campaign)

    assert count_round_trips(lambda: campaign.get(URL)) == trips_before


@pytest.mark.parametrize(
    "query",
    [
        "affiliateId={affiliate}",
        "programId={program}",
        "status=Approved",
        "kind=lead",
        "subId=news",
        "subId=untagged",
        "affiliateId={affiliate}&status=Approved",
        "programId={program}&status=Approved",
    ],
)
def test_filtered_list_pages_newest_first(campaign, query):
    (affiliate,) = campaign.rows("select id from affiliate")[0]
    matching = {"status": "Approved", "type": "LeadReward", "sub_id": None if "untagged" in query else "news"}
    ids = [_insert(campaign, **matching) for _ in range(3)]
    _insert(campaign, campaign.affiliate("cleo", program_id=campaign.program()), sub_id="untagged")
    url = f"{URL}?take=2&{query.format(affiliate=affiliate, program=campaign.programs[0])}"

    first = campaign.get(url)
    second = campaign.get(f"{url}&cursor={first.json['nextCursor']}")

    assert _ids(first) + _ids(second) == ids[::-1]
    assert second.json["hasMore"] is False


def test_list_item_equals_single_conversion_json(campaign):
    """PostgreSQL renders the list, Python a single conversion: keys, their order and values must be equal."""
    at = datetime(2026, 3, 1, 12, 0, 0, 999_999, tzinfo=UTC)
    _insert(
        campaign,
        amount_cents=2**53 - 1,
        rate_type="Percentage",
        rate_value="12.500000",
        occurred_at=at,
        created_at=at,
        customer_name='Ä "quoted" \\ \n日本',
        sub_id="news",
    )
    _insert(campaign, status="Approved", rate_type="Fixed", rate_value="300", payout_locked=True, refunded_at=at)

    items = orjson.loads(campaign.get(URL).data)["items"]

    for item in items:
        conversion = orjson.loads(campaign.get(f"{URL}/{item['id']}").data)
        del conversion["events"]
        assert orjson.dumps(item) == orjson.dumps(conversion)
    assert [item["rateValue"] for item in items] == [300, 12.5]
