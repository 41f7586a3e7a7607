"""The brand's list of payouts and single payouts. Source: core spec, "Payouts" and "Payout"."""

import re
from datetime import UTC, datetime
from uuid import UUID

import pytest

from tests.support.api.lists import assert_foreign_cursors_refused
from tests.support.api.payouts import UNKNOWN_ID, URL, create_payout, problem_fields, run_payouts
from tests.support.rows.payroll import Payroll

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def test_payout_shows_every_field_and_its_lines(payroll):
    payroll.rate("EUR", "0.8", on=datetime.now(UTC).date())
    payroll.affiliate("ann")
    conversion_id = payroll.sell("ann", 10_000, "EUR")
    receipt = run_payouts(payroll, notes="March", externalTransactionId="batch 7")
    payout_id = receipt["payouts"][0]["payoutId"]

    payout = payroll.brand.get(f"{URL}/{payout_id}").json

    created_at, (line,) = payout.pop("createdAt"), payout.pop("lineItems")
    assert payout == {
        "id": payout_id,
        "runId": receipt["runId"],
        "affiliateId": str(payroll.affiliates["ann"]),
        "affiliateName": "Ann",
        "affiliateEmail": "ann@example.com",
        "milestoneId": None,
        "amountCents": 2_500,
        "currency": "USD",
        "method": "ProcessorConnect",
        "status": "Pending",
        "attempt": 1,
        "processorTransferId": None,
        "walletBatchId": None,
        "walletTransactionId": None,
        "gpOutboundPaymentId": None,
        "externalTransactionId": "batch 7",
        "notes": "March",
        "failureCode": None,
        "failureReason": None,
        "periodStart": _today(),
        "periodEnd": _today(),
        "exportedAt": None,
        "submittedAt": None,
        "paidAt": None,
        "failedAt": None,
        "voidedAt": None,
        "needsManualReview": False,
        "reviewStatus": None,
        "holdUntil": None,
    }
    assert _TIME.fullmatch(created_at)
    assert UUID(line.pop("id"))
    assert _TIME.fullmatch(line.pop("occurredAt"))
    assert line == {
        "conversionId": conversion_id,
        "amountCents": 2_500,
        "currency": "USD",
        "nativeAmountCents": 2_000,
        "nativeCurrency": "EUR",
        "fxRate": 0.8,
        "fxRateDate": _today(),
        "reversedAmountCents": 0,
        "reversedAt": None,
    }


def test_usd_line_has_rate_1_of_the_run_date(payroll):
    payout_id = create_payout(payroll)

    (line,) = payroll.brand.get(f"{URL}/{payout_id}").json["lineItems"]

    assert (line["fxRate"], line["fxRateDate"]) == (1, _today())


def test_paid_payout_names_its_transfer(payroll):
    payout_id = create_payout(payroll)
    payroll.pay()

    payout = payroll.brand.get(f"{URL}/{payout_id}").json

    assert (payout["status"], payout["failedAt"]) == ("Paid", None)
    assert _TIME.fullmatch(payout["paidAt"])
    assert payout["processorTransferId"].startswith("sandbox_")


def test_failed_payout_has_a_reason(app):
    payroll = Payroll.create(app, rail="fail")
    payout_id = create_payout(payroll)
    payroll.pay()

    payout = payroll.brand.get(f"{URL}/{payout_id}").json

    assert (payout["status"], payout["paidAt"], payout["failureCode"]) == ("Failed", None, "sandbox_rejected")
    assert payout["failureReason"] == "The sandbox is set to reject transfers."
    assert _TIME.fullmatch(payout["failedAt"])


def test_refund_after_payment_is_shown_on_the_line(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    run_payouts(payroll)
    payroll.pay()
    payroll.brand.refund("first", 2_500)

    (payout,) = payroll.brand.get(URL).json["items"]

    assert payout["amountCents"] == 2_000
    assert [(line["amountCents"], line["reversedAmountCents"]) for line in payout["lineItems"]] == [(2_000, 500)]
    assert _TIME.fullmatch(payout["lineItems"][0]["reversedAt"])


def test_debt_is_a_negative_line_and_lines_sum_up(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    run_payouts(payroll)
    payroll.pay()
    payroll.brand.refund("first", 4_000)
    payout_id = create_payout(payroll)

    payout = payroll.brand.get(f"{URL}/{payout_id}").json

    assert sorted(line["amountCents"] for line in payout["lineItems"]) == [-800, 2_000]
    assert payout["amountCents"] == 1_200


def test_payout_destination_is_hidden_from_every_reader(payroll):
    payout_id = create_payout(payroll)

    for reader in (payroll.brand, payroll.brand.person("Owner")):
        for path in (URL, f"{URL}/{payout_id}"):
            assert "acct_ann" not in reader.get(path).text
        assert "acct_ann" not in reader.post(f"{URL}/preview").text


def test_list_is_newest_first_in_pages(payroll):
    payout_ids = [create_payout(payroll, slug) for slug in ("ann", "ben", "cyd")]

    first = payroll.brand.get(f"{URL}?take=2").json
    second = payroll.brand.get(f"{URL}?take=2&cursor={first['nextCursor']}").json

    assert [item["id"] for item in first["items"] + second["items"]] == payout_ids[::-1]
    assert (first["hasMore"], second["hasMore"], second["nextCursor"]) == (True, False, None)
    assert all(len(item["lineItems"]) == 1 for item in first["items"])


def test_list_can_omit_lines(payroll):
    create_payout(payroll)

    (payout,) = payroll.brand.get(f"{URL}?lineItems=false").json["items"]

    assert "lineItems" not in payout
    assert payout["amountCents"] == 2_000


def test_list_filters_by_affiliate_status_and_run(payroll):
    first = create_payout(payroll, "ann")
    payroll.pay()
    second = create_payout(payroll, "ben")
    run_id = payroll.brand.get(f"{URL}/{second}").json["runId"]

    def ids(query: str) -> list[str]:
        return [item["id"] for item in payroll.brand.get(f"{URL}?{query}").json["items"]]

    assert ids(f"affiliateId={payroll.affiliates['ann']}") == [first]
    assert ids("status=Pending") == [second]
    assert ids("status=Paid") == [first]
    assert ids(f"runId={run_id}") == [second]
    assert ids(f"runId={run_id}&status=Paid") == []
    assert ids(f"affiliateId={UNKNOWN_ID}") == []


def test_empty_list_is_a_page(payroll):
    assert payroll.brand.get(URL).json == {"items": [], "nextCursor": None, "hasMore": False}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("status=paid", "status"),
        ("status=", "status"),
        ("status=%00", "status"),
        ("affiliateId=x", "affiliateId"),
        ("affiliateId=", "affiliateId"),
        ("runId=1", "runId"),
        ("take=0", "take"),
        ("take=-1", "take"),
        ("take=ten", "take"),
        ("lineItems=1", "lineItems"),
        ("cursor=x", "cursor"),
    ],
)
def test_malformed_query_returns_400(payroll, query, field):
    assert problem_fields(payroll.brand.get(f"{URL}?{query}")) == {field}


def test_other_tenants_payouts_return_404(payroll, rival):
    payout_id = create_payout(payroll)

    assert rival.get(f"{URL}/{payout_id}").status_code == 404
    assert rival.get(f"{URL}?affiliateId={payroll.affiliates['ann']}").json["items"] == []
    assert rival.get(URL).json["items"] == []


def test_list_refuses_foreign_cursors(app, payroll):
    other = Payroll.create(app)
    for tenant in (payroll, other):
        create_payout(tenant, "ann")
        create_payout(tenant, "ben")

    assert_foreign_cursors_refused(
        payroll.brand, URL, foreign=(other.brand, URL), other=(payroll.brand, "/api/v1/conversions")
    )


@pytest.mark.parametrize("payout_id", ["x", UNKNOWN_ID, "0", "%00", "a" * 300, "é"])
def test_unknown_payout_returns_404(payroll, payout_id):
    answer = payroll.brand.get(f"{URL}/{payout_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_every_member_and_a_read_key_may_read(payroll):
    payout_id = create_payout(payroll)

    for reader in (payroll.brand.other_key(scope="read"), payroll.brand.person("Viewer")):
        for path in (URL, f"{URL}/{payout_id}", f"{URL}/funding/status"):
            assert reader.get(path).status_code == 200


def test_key_needs_the_starter_plan_and_a_person_does_not(payroll):
    payroll.brand.set(plan="Free")

    for path in (URL, f"{URL}/{UNKNOWN_ID}", f"{URL}/funding/status"):
        answer = payroll.brand.get(path)
        assert (answer.status_code, answer.json["error"]) == (402, "plan_tier_required")
        assert set(answer.json) == {"error", "message", "required", "current", "trialing", "doc_url"}
    assert payroll.brand.person("Viewer").get(URL).status_code == 200
