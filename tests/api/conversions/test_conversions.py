"""Reading conversions as a brand, through HTTP."""

from uuid import UUID, uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Brand

URL = "/api/v1/conversions"
C_AT_X = "https://www.gravatar.com/avatar/2ce89e56236ccdba320cb09efb1f0a930ae516265308ee189a1c6d6e67d21f0e?d=identicon"


def test_sale_is_returned_with_its_history(campaign, drain):
    sale = campaign.sale(
        externalEventId="order-x", customerId="cus_1", customerName="Cleo", subId="News-May", customerEmail="c@x.test"
    )
    drain()

    conversion = campaign.get(f"{URL}/{sale.json['conversionId']}").json

    time_fields = ("createdAt", "occurredAt", "payableAt")
    (line,) = conversion["events"]
    assert {name: value for name, value in conversion.items() if name not in (*time_fields, "events")} == {
        "id": sale.json["conversionId"],
        "affiliateId": str(campaign.rows("select id from affiliate")[0][0]),
        "programId": str(campaign.programs[-1]),
        "selfReferral": False,
        "awaitsApproval": False,
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
        "affiliateCouponId": None,
        "subId": "news-may",
        "payability": "payable",
        "parentAffiliateConversionId": None,
        "locked": False,
        "isTest": False,
        "disputed": False,
        "customerName": "Cleo",
        "customerAvatarUrl": C_AT_X,
        "rateSource": "program",
        "rateType": "Percentage",
        "rateValue": 20,
        "affiliateName": "Ben",
        "affiliateEmail": "ben@example.com",
        "programName": conversion["programName"],
        "payoutId": None,
    }
    assert conversion["programName"] == campaign.rows("select name from program")[0][0]
    assert all(conversion[field].endswith("Z") for field in time_fields)
    assert {name: line[name] for name in line if name not in ("id", "occurredAt")} == {
        "eventType": "initial",
        "amountCents": 10_000,
        "commissionCents": 2_000,
        "reason": None,
        "note": None,
        "origin": None,
    }


@pytest.mark.parametrize(
    ("fields", "avatar_url"),
    [
        ({"customerEmail": "c@x.test", "customerAvatarUrl": "https://img.x.test/c.png"}, "https://img.x.test/c.png"),
        ({"customerAvatarUrl": "https://img.x.test/c.png"}, "https://img.x.test/c.png"),
        ({"customerEmail": " C@X.test", "customerAvatarUrl": None}, C_AT_X),
        ({"customerEmail": "  "}, None),
        ({}, None),
    ],
)
def test_avatar_is_the_sent_one_or_derived_from_the_email(campaign, fields, avatar_url):
    conversion_id = campaign.sale(**fields).json["conversionId"]

    assert campaign.get(f"{URL}/{conversion_id}").json["customerAvatarUrl"] == avatar_url


def test_returned_id_is_readable_before_any_worker_ran(campaign, drain):
    sale = campaign.sale()

    early = campaign.get(f"{URL}/{sale.json['conversionId']}")
    drain()
    late = campaign.get(f"{URL}/{sale.json['conversionId']}")

    assert (early.status_code, early.json["commissionCents"]) == (200, 2_000)
    assert late.json == early.json
    assert campaign.rows("select count(*) from conversion") == [(1,)]
    assert campaign.rows("select count(*) from ledger_entry") == [(1,)]


def test_concurrent_reads_settle_once(campaign):
    conversion_id = campaign.sale().json["conversionId"]

    answers = run_concurrently(*[lambda: campaign.get(f"{URL}/{conversion_id}")] * 4)

    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json["commissionCents"] for answer in answers} == {2_000}
    assert campaign.rows("select count(*) from ledger_entry") == [(1,)]


def test_read_key_can_read(campaign):
    sale = campaign.sale()

    assert campaign.other_key(scope="read").get(f"{URL}/{sale.json['conversionId']}").status_code == 200


def test_settling_read_wakes_the_relay(campaign, monkeypatch):
    wakeups = []
    monkeypatch.setattr("api.conversions.conversions.wake_relay", lambda: wakeups.append(1))
    conversion_id = campaign.sale().json["conversionId"]

    campaign.get(f"{URL}/{conversion_id}")
    campaign.get(f"{URL}/{conversion_id}")

    assert wakeups == [1]


def test_other_tenant_cannot_read_or_settle(campaign, rival):
    conversion_id = campaign.sale().json["conversionId"]

    answer = rival.get(f"{URL}/{conversion_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert campaign.rows("select count(*) from conversion") == [(0,)]


def test_commission_excludes_refunded_amounts(campaign, drain):
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


def test_override_names_its_parent(campaign, drain):
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


@pytest.mark.parametrize("conversion_id", ["nonsense", str(UUID(int=0)), "export.json"])
def test_malformed_id_returns_404(campaign, conversion_id):
    answer = campaign.get(f"{URL}/{conversion_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_free_plan_returns_402(app):
    free = Brand.create(app, plan="Free")

    assert free.get(URL).status_code == 402
    assert free.get(f"{URL}/{uuid4()}").status_code == 402
