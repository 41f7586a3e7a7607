"""Conversions as the brand reads them, through HTTP."""

from uuid import UUID, uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Brand

URL = "/api/v1/conversions"
C_AT_X = "https://www.gravatar.com/avatar/2ce89e56236ccdba320cb09efb1f0a930ae516265308ee189a1c6d6e67d21f0e?d=identicon"


def test_a_sale_is_shown_with_its_history(campaign, drain):
    sale = campaign.sale(
        externalEventId="order-x", customerId="cus_1", customerName="Cleo", subId="News-May", customerEmail="c@x.test"
    )
    drain()

    shown = campaign.get(f"{URL}/{sale.json['conversionId']}").json

    moments = ("createdAt", "occurredAt", "payableAt")
    (line,) = shown["events"]
    assert {name: value for name, value in shown.items() if name not in (*moments, "events")} == {
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
        "programName": shown["programName"],
        "payoutId": None,
    }
    assert shown["programName"] == campaign.rows("select name from program")[0][0]
    assert all(shown[moment].endswith("Z") for moment in moments)
    assert {name: line[name] for name in line if name not in ("id", "occurredAt")} == {
        "eventType": "initial",
        "amountCents": 10_000,
        "commissionCents": 2_000,
        "reason": None,
        "note": None,
        "origin": None,
    }


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"customerEmail": "c@x.test", "customerAvatarUrl": "https://img.x.test/c.png"}, "https://img.x.test/c.png"),
        ({"customerAvatarUrl": "https://img.x.test/c.png"}, "https://img.x.test/c.png"),
        ({"customerEmail": " C@X.test", "customerAvatarUrl": None}, C_AT_X),
        ({"customerEmail": "  "}, None),
        ({}, None),
    ],
)
def test_a_picture_that_was_sent_stays_and_another_is_derived_from_the_email(campaign, fields, shown):
    conversion_id = campaign.sale(**fields).json["conversionId"]

    assert campaign.get(f"{URL}/{conversion_id}").json["customerAvatarUrl"] == shown


def test_an_id_that_was_given_out_is_found_before_any_worker_ran(campaign, drain):
    sale = campaign.sale()

    early = campaign.get(f"{URL}/{sale.json['conversionId']}")
    drain()
    late = campaign.get(f"{URL}/{sale.json['conversionId']}")

    assert (early.status_code, early.json["commissionCents"]) == (200, 2_000)
    assert late.json == early.json
    assert campaign.rows("select count(*) from conversion") == [(1,)]
    assert campaign.rows("select count(*) from ledger_entry") == [(1,)]


def test_reads_at_once_settle_once(campaign):
    conversion_id = campaign.sale().json["conversionId"]

    answers = run_concurrently(*[lambda: campaign.get(f"{URL}/{conversion_id}")] * 4)

    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json["commissionCents"] for answer in answers} == {2_000}
    assert campaign.rows("select count(*) from ledger_entry") == [(1,)]


def test_a_key_that_only_reads_is_told_too(campaign):
    sale = campaign.sale()

    assert campaign.other_key(scope="read").get(f"{URL}/{sale.json['conversionId']}").status_code == 200


def test_a_read_that_settles_wakes_the_relay(campaign, monkeypatch):
    woken = []
    monkeypatch.setattr("api.conversions.conversions.wake_relay", lambda: woken.append(1))
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


@pytest.mark.parametrize("conversion_id", ["nonsense", str(UUID(int=0)), "export.json"])
def test_what_is_no_id_names_no_conversion(campaign, conversion_id):
    answer = campaign.get(f"{URL}/{conversion_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_plans_are_asked_for(app):
    free = Brand.create(app, plan="Free")

    assert free.get(URL).status_code == 402
    assert free.get(f"{URL}/{uuid4()}").status_code == 402
