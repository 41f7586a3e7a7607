"""Refunds by id of any conversion, whatever its source and status."""

import json
from contextlib import suppress
from uuid import uuid4

import pytest

from domain.refusals import Refused
from tests.support.api.concurrency import run_concurrently
from tests.support.api.decisions import read_refund_state, refund_by_id
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.api.payouts import list_audit_entries, problem_fields
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

_REASONS = ("refunded", "chargeback", "fraud", "mistake", "other")


def _import_sale(campaign, **options):
    answer = import_sales(campaign, build_past_sale(externalId="old-1"), **options)
    assert answer.json["imported"] == 1, answer.json
    return campaign.rows("select id from conversion where source = 'import'")[0][0]


def _create_manually(payroll, kind="sale", **body):
    common = {"programId": str(payroll.brand.programs[-1]), "affiliateId": str(payroll.affiliates["ann"]), "kind": kind}
    answer = payroll.brand.post("/api/v1/conversions", common | body)
    assert answer.status_code == 201, answer.json
    drain()
    return answer.json["conversion"]["id"]


def test_partial_refunds_return_running_totals_and_complete_the_conversion(payroll):
    sale = payroll.sell("ann")

    first = refund_by_id(payroll.brand, sale, amountCents=4_000)
    second = refund_by_id(payroll.brand, sale)

    expected = {"ok": True, "conversionId": sale}
    assert first.json == expected | {
        "refundedAmountCents": 4_000,
        "cumulativeRefundedAmountCents": 4_000,
        "isFullRefund": False,
    }
    assert second.json == expected | {
        "refundedAmountCents": 6_000,
        "cumulativeRefundedAmountCents": 10_000,
        "isFullRefund": True,
    }
    assert read_refund_state(payroll.brand, sale) == (10_000, 0, "Refunded")


def test_manual_sale_is_refunded(payroll):
    sale = _create_manually(payroll, amountCents=10_000)

    assert refund_by_id(payroll.brand, sale, amountCents=2_500).status_code == 200
    assert read_refund_state(payroll.brand, sale) == (2_500, 1_500, "Pending")


def test_payable_import_is_refunded(campaign):
    sale = _import_sale(campaign, confirmUnpaidPayout=True)

    assert refund_by_id(campaign, sale, amountCents=5_000).status_code == 200
    assert read_refund_state(campaign, sale) == (5_000, 1_000, "Approved")


@pytest.mark.parametrize("paid", [True, False])
def test_locked_history_is_refunded_and_changes_no_balance(payroll, paid):
    answer = import_sales(payroll.brand, build_past_sale(externalId="old-1", affiliateSlug="ann", paid=paid))
    assert answer.json["imported"] == 1
    ((sale, status),) = payroll.brand.rows("select id, status from conversion")

    assert refund_by_id(payroll.brand, sale).json["isFullRefund"] is True

    assert read_refund_state(payroll.brand, sale) == (10_000, 0, "Refunded")
    balance = payroll.brand.get(f"/api/v1/affiliates/{payroll.affiliates['ann']}/balance").json
    assert [row for row in balance["balances"] if row["payableCents"]] == [], status


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("Pending", (10_000, 0, "Refunded")),
        ("Approved", (10_000, 0, "Refunded")),
        ("Denied", (10_000, 1_000, "Denied")),
        ("Invalidated", (10_000, 1_000, "Invalidated")),
    ],
)
def test_refund_of_each_status(brand, status, expected):
    brand.program()
    sale = insert_conversion(brand, brand.affiliate("ann"), status=status)

    assert refund_by_id(brand, sale).json["isFullRefund"] is True
    assert read_refund_state(brand, sale) == expected
    assert refund_by_id(brand, sale).json["error"] == "already_fully_refunded"


def test_refund_after_payment_is_deducted_from_the_next_run(payroll):
    first = payroll.sell("ann")
    payroll.run()
    payroll.pay()
    assert read_refund_state(payroll.brand, first) == (0, 2_000, "Paid")

    assert refund_by_id(payroll.brand, first, "chargeback", amountCents=4_000).status_code == 200
    assert payroll.balance("ann") == {"USD": -800}
    payroll.sell("ann")
    payroll.run()
    payroll.pay()

    assert payroll.payouts() == [("Paid", 2_000), ("Paid", 1_200)]
    assert payroll.balance("ann") == {"USD": 0}


def test_refund_during_the_payout_is_deducted_from_the_next_run(payroll):
    payroll.brand.set(sandboxRail="slow")
    sale = payroll.sell("ann")
    payroll.run()
    payroll.pay()
    assert payroll.payouts("status") == [("Processing",)]

    assert refund_by_id(payroll.brand, sale).status_code == 200

    assert payroll.lines("native_amount_cents, reversed_native_cents") == [(2_000, 2_000)]
    assert read_refund_state(payroll.brand, sale) == (10_000, 0, "Refunded")


def test_refund_of_disputed_conversion(payroll):
    sale = payroll.sell("ann")
    payroll.execute("update conversion set disputed_at = now()")

    assert refund_by_id(payroll.brand, sale, "chargeback").status_code == 200
    assert read_refund_state(payroll.brand, sale) == (10_000, 0, "Refunded")


def test_conversion_of_deleted_affiliate_in_archived_program_is_refunded(payroll):
    sale = payroll.sell("ann")
    payroll.execute("update affiliate set deleted_at = now()")
    payroll.execute("update program set archived_at = now()")

    assert refund_by_id(payroll.brand, sale).status_code == 200
    assert read_refund_state(payroll.brand, sale) == (10_000, 0, "Refunded")


def test_refund_of_a_test_conversion_changes_no_revenue(payroll):
    test_key = payroll.brand.other_key(is_test=True)
    sale = test_key.sale(affiliateSlug="ann").json["conversionId"]
    drain()

    assert refund_by_id(payroll.brand, sale, amountCents=1_000).status_code == 200
    assert payroll.brand.rows("select sum(net_cents) from affiliate_revenue") == [(None,)]


def test_unsettled_sale_is_settled_and_refunded(payroll):
    sale = payroll.brand.sale(affiliateSlug="ann").json["conversionId"]

    assert refund_by_id(payroll.brand, sale, amountCents=4_000).status_code == 200
    assert read_refund_state(payroll.brand, sale) == (4_000, 1_200, "Pending")


@pytest.mark.parametrize("kind", ["bonus", "lead", "click"])
def test_conversion_without_amount_can_only_be_refunded_in_full(payroll, kind):
    if kind == "bonus":
        reward = _create_manually(payroll, "bonus", commissionCents=500)
    else:
        type = {"lead": "LeadReward", "click": "ClickReward"}[kind]
        reward = insert_conversion(
            payroll.brand, payroll.affiliates["ann"], source=kind, type=type, amount_cents=0, commission_cents=0
        )

    refused = refund_by_id(payroll.brand, reward, amountCents=1)
    answer = refund_by_id(payroll.brand, reward)

    assert (refused.status_code, refused.json["error"]) == (422, "refund_amount_invalid")
    assert (answer.json["refundedAmountCents"], answer.json["isFullRefund"]) == (0, True)
    assert read_refund_state(payroll.brand, reward) == (0, 0, "Refunded")
    repeated = refund_by_id(payroll.brand, reward)
    assert (repeated.status_code, repeated.json["error"]) == (422, "already_fully_refunded")


@pytest.mark.parametrize("reason", _REASONS)
def test_reason_and_note_are_in_history_audit_log_and_event(payroll, reason):
    sale = payroll.sell("ann")
    note = "Sent back «unopened»\n\N{PARTY POPPER}"

    refund_by_id(payroll.brand.person("Manager"), sale, reason, amountCents=4_000, note=f"  {note} ")

    *_, line = payroll.brand.get(f"/api/v1/conversions/{sale}").json["events"]
    assert (line["eventType"], line["amountCents"], line["commissionCents"]) == ("refund", -4_000, -800)
    assert (line["reason"], line["note"]) == (reason, note)
    ((actor, entity, before, after),) = list_audit_entries(payroll.brand, "conversion.refunded")
    assert (actor, entity, before["refundedAmountCents"]) == ("member", sale, 0)
    assert after == {
        "refundedAmountCents": 4_000,
        "cumulativeRefundedAmountCents": 4_000,
        "isFullRefund": False,
        "reason": reason,
        "note": note,
    }
    ((body,),) = payroll.brand.rows("select body from event where type = 'conversion.refunded'")
    assert json.loads(body)["data"]["commissionReversedCents"] == 800


@pytest.mark.parametrize(
    ("amount", "status", "code"),
    [
        (0, 422, "refund_amount_invalid"),
        (-1, 422, "refund_amount_invalid"),
        (10_001, 422, "amount_exceeds_original"),
        (10**30, 422, "amount_exceeds_original"),
    ],
)
def test_amount_out_of_range_is_refused(payroll, amount, status, code):
    sale = payroll.sell("ann")

    answer = refund_by_id(payroll.brand, sale, amountCents=amount)

    assert (answer.status_code, answer.json["error"]) == (status, code)
    assert read_refund_state(payroll.brand, sale) == (0, 2_000, "Pending")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "reason"),
        ({"reason": None}, "reason"),
        ({"reason": "because"}, "reason"),
        ({"reason": 1}, "reason"),
        ({"reason": "Refunded"}, "reason"),
        ({"reason": "fraud", "amountCents": "12"}, "amountCents"),
        ({"reason": "fraud", "amountCents": 1.5}, "amountCents"),
        ({"reason": "fraud", "amountCents": True}, "amountCents"),
        ({"reason": "fraud", "amountCents": [1]}, "amountCents"),
        ({"reason": "fraud", "note": "a\x00b"}, "note"),
        ({"reason": "fraud", "note": "x" * 1_001}, "note"),
        ({"reason": "fraud", "note": 7}, "note"),
        ({"reason": "fraud", "items": []}, "items"),
        ({"reason": "fraud", "refundAmountCents": 1}, "refundAmountCents"),
    ],
)
def test_malformed_body_is_refused_with_problem_details(payroll, body, field):
    sale = payroll.sell("ann")

    assert problem_fields(payroll.brand.post(f"/api/v1/conversions/{sale}/refund", body)) == {field}
    assert read_refund_state(payroll.brand, sale) == (0, 2_000, "Pending")


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b'{"reason":"fraud","reason":"other"}', b"\xff"])
def test_non_object_body_returns_400(payroll, raw):
    sale = payroll.sell("ann")

    assert payroll.brand.post(f"/api/v1/conversions/{sale}/refund", raw).status_code == 400


def test_other_tenants_conversion_and_unknown_id_return_404(payroll, rival):
    sale = payroll.sell("ann")

    for conversion_id in (sale, uuid4()):
        answer = refund_by_id(rival, conversion_id)
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert refund_by_id(payroll.brand, "nonsense").status_code == 404
    assert read_refund_state(payroll.brand, sale) == (0, 2_000, "Pending")


def test_viewer_and_read_key_are_refused(payroll):
    sale = payroll.sell("ann")
    readers = (payroll.brand.person("Viewer"), payroll.brand.other_key(scope="read"))

    assert [refund_by_id(reader, sale).status_code for reader in readers] == [403, 403]
    assert refund_by_id(payroll.brand.person("Manager"), sale).status_code == 200


def test_plan_below_starter_returns_402(app):
    free = Brand.create(app, plan="Free")
    free.program()
    sale = insert_conversion(free, free.affiliate("ann"))

    assert refund_by_id(free, sale).status_code == 402


def test_repeated_idempotency_key_refunds_once(payroll):
    sale = payroll.sell("ann")
    request = [f"/api/v1/conversions/{sale}/refund", {"reason": "other", "amountCents": 1_000}]

    first, second = (payroll.brand.post(*request, Idempotency_Key="a") for _ in range(2))

    assert (first.json, second.headers["Idempotency-Replayed"]) == (second.json, "true")
    assert read_refund_state(payroll.brand, sale)[0] == 1_000


def test_concurrent_refunds_never_exceed_the_amount(payroll):
    sale = payroll.sell("ann")

    answers = run_concurrently(*[lambda: refund_by_id(payroll.brand, sale, amountCents=3_000) for _ in range(6)])

    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 422, 422, 422]
    assert {answer.json.get("error") for answer in answers} == {None, "amount_exceeds_original"}
    assert read_refund_state(payroll.brand, sale) == (9_000, 200, "Pending")


def test_refund_concurrent_with_a_run_is_excluded_or_deducted_later(payroll):
    sale = payroll.sell("ann")

    def run_unless_refunded_first():
        with suppress(Refused):  # 409: the total is 0 by then
            payroll.run(2_000)

    run_concurrently(run_unless_refunded_first, lambda: refund_by_id(payroll.brand, sale))
    payroll.pay()

    paid = sum(cents for status, cents in payroll.payouts() if status == "Paid")
    assert payroll.balance("ann") == {"USD": -paid}
    assert read_refund_state(payroll.brand, sale) == (10_000, 0, "Refunded")
