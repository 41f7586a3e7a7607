"""Undoing the refunds that the brand booked: all of them, once, and never those a gateway reported."""

import json
from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.decisions import read_refund_state, refund_by_id, undo_refund
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.api.payouts import list_audit_entries
from tests.support.job_queues import drain
from tests.support.recruits import Recruits
from tests.support.rows.program_rows import insert_conversion


@pytest.fixture
def admin(payroll):
    return payroll.brand.person("Admin")


def _status_and_code(answer):
    return answer.status_code, answer.json["error"]


def test_refunds_by_id_and_by_signed_call_are_undone_together_once(payroll, admin):
    sale = payroll.sell("ann", externalEventId="order-a")
    refund_by_id(payroll.brand, sale, amountCents=1_000)
    payroll.brand.refund("order-a", 2_000)
    refund_by_id(payroll.brand, sale)
    assert read_refund_state(payroll.brand, sale) == (10_000, 0, "Refunded")

    answer = undo_refund(admin, sale)

    assert (answer.status_code, answer.json["status"], answer.json["refundedAmountCents"]) == (200, "Pending", 0)
    assert (answer.json["commissionCents"], answer.json["refundedAt"]) == (2_000, None)
    assert read_refund_state(payroll.brand, sale) == (0, 2_000, "Pending")
    assert _status_and_code(undo_refund(admin, sale)) == (409, "nothing_to_restore")


def test_undone_refund_is_in_event_history_and_audit_log(payroll, admin):
    sale = payroll.sell("ann")
    refund_by_id(payroll.brand, sale, amountCents=4_000)

    undo_refund(admin, sale)

    ((body,),) = payroll.brand.rows("select body from event where type = 'conversion.adjusted'")
    data = json.loads(body)["data"]
    assert (data["previousAmountCents"], data["amountCents"]) == (6_000, 10_000)
    assert (data["previousCommissionCents"], data["commissionCents"]) == (1_200, 2_000)
    *_, line = payroll.brand.get(f"/api/v1/conversions/{sale}").json["events"]
    assert (line["eventType"], line["amountCents"], line["reason"]) == ("adjustment", 4_000, "refund_restored")
    ((actor, entity, before, after),) = list_audit_entries(payroll.brand, "conversion.refund_restored")
    assert (actor, entity) == ("member", sale)
    assert (before["refundedAmountCents"], after["refundedAmountCents"]) == (4_000, 0)


def test_refund_can_be_undone_after_an_earlier_one_was(payroll, admin):
    sale = payroll.sell("ann")
    for amount in (4_000, 5_000):
        refund_by_id(payroll.brand, sale, amountCents=amount)
        assert undo_refund(admin, sale).status_code == 200
    assert read_refund_state(payroll.brand, sale) == (0, 2_000, "Pending")


def test_refund_of_paid_conversion_is_undone_before_and_after_its_deduction(payroll, admin):
    sale = payroll.sell("ann")
    payroll.run()
    payroll.pay()
    refund_by_id(payroll.brand, sale)
    assert undo_refund(admin, sale).json["status"] == "Paid"
    assert payroll.balance("ann") == {"USD": 0}

    refund_by_id(payroll.brand, sale, amountCents=5_000)
    payroll.sell("ann")
    payroll.run()
    payroll.pay()
    assert payroll.balance("ann") == {"USD": 0}
    assert undo_refund(admin, sale).json["status"] == "Approved"
    assert payroll.balance("ann") == {"USD": 1_000}
    payroll.run()
    payroll.pay()
    assert payroll.balance("ann") == {"USD": 0}


@pytest.mark.parametrize("status", ["Denied", "Invalidated"])
def test_refund_of_denied_or_invalidated_conversion_is_undone(brand, status):
    brand.program()
    sale = insert_conversion(brand, brand.affiliate("ann"), status=status)
    refund_by_id(brand, sale)

    assert undo_refund(brand.person("Admin"), sale).json["status"] == status
    assert read_refund_state(brand, sale) == (0, 1_000, status)


@pytest.mark.parametrize("paid", [True, False])
def test_undo_restores_the_status_of_locked_history(payroll, admin, paid):
    import_sales(payroll.brand, build_past_sale(externalId="old-1", affiliateSlug="ann", paid=paid))
    ((sale, status),) = payroll.brand.rows("select id, status from conversion")
    refund_by_id(payroll.brand, sale)

    assert undo_refund(admin, sale).json["status"] == status
    assert read_refund_state(payroll.brand, sale) == (0, 2_000, status)


def test_bonus_is_restored_in_full(payroll, admin):
    body = {"programId": str(payroll.brand.programs[-1]), "affiliateId": str(payroll.affiliates["ann"])}
    answer = payroll.brand.post("/api/v1/conversions", body | {"kind": "bonus", "commissionCents": 500})
    bonus = answer.json["conversion"]["id"]
    assert _status_and_code(undo_refund(admin, bonus)) == (409, "nothing_to_restore")
    refund_by_id(payroll.brand, bonus)

    assert undo_refund(admin, bonus).json["commissionCents"] == 500
    assert _status_and_code(undo_refund(admin, bonus)) == (409, "nothing_to_restore")


def test_conversion_without_refunds_has_nothing_to_restore(payroll, admin):
    assert _status_and_code(undo_refund(admin, payroll.sell("ann"))) == (409, "nothing_to_restore")


def test_manager_cannot_undo_and_other_tenants_id_returns_404(payroll, admin, rival):
    sale = payroll.sell("ann")
    refund_by_id(payroll.brand, sale)

    assert undo_refund(payroll.brand.person("Manager"), sale).status_code == 403
    assert undo_refund(rival.person("Admin"), sale).status_code == 404
    assert undo_refund(admin, uuid4()).status_code == 404
    assert undo_refund(payroll.brand, sale).status_code == 200


def test_concurrent_undos_restore_once(payroll, admin):
    sale = payroll.sell("ann")
    refund_by_id(payroll.brand, sale, amountCents=4_000)

    answers = run_concurrently(*[lambda: undo_refund(admin, sale) for _ in range(4)])

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert read_refund_state(payroll.brand, sale) == (0, 2_000, "Pending")


def test_override_is_refunded_and_restored_with_its_sale(brand):
    recruits = Recruits.create(brand)
    sale = recruits.sell()
    drain()
    refund_by_id(brand, sale)
    drain()
    assert recruits.overrides("reversed_cents, status") == [(200, "Refunded")]

    undo_refund(brand.person("Admin"), sale)
    drain()

    assert recruits.overrides("reversed_cents, status") == [(0, "Pending")]


def test_override_is_refunded_and_restored_separately(brand):
    recruits = Recruits.create(brand)
    sale = recruits.sell()
    drain()
    ((override_id,),) = recruits.overrides("id")
    admin = brand.person("Admin")

    assert _status_and_code(refund_by_id(brand, override_id, amountCents=1)) == (422, "refund_amount_invalid")
    assert refund_by_id(brand, override_id, "fraud").json["isFullRefund"] is True
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (2_000, 0)

    # Refunding its sale, and undoing that, leaves the override refunded.
    refund_by_id(brand, sale, amountCents=4_000)
    drain()
    undo_refund(admin, sale)
    drain()
    assert recruits.overrides("reversed_cents, status") == [(200, "Refunded")]

    # Undone separately, it earns the part that its sale's refunds leave.
    refund_by_id(brand, sale, amountCents=4_000)
    drain()
    assert undo_refund(admin, override_id).json["commissionCents"] == 120
    assert recruits.overrides("reversed_cents, status") == [(80, "Pending")]
    assert _status_and_code(undo_refund(admin, override_id)) == (409, "nothing_to_restore")


def test_override_of_refunded_sale_is_restored_only_with_its_sale(brand):
    recruits = Recruits.create(brand)
    sale = recruits.sell()
    drain()
    ((override_id,),) = recruits.overrides("id")
    admin = brand.person("Admin")
    refund_by_id(brand, override_id)
    refund_by_id(brand, sale)
    drain()

    assert _status_and_code(undo_refund(admin, override_id)) == (409, "nothing_to_restore")
    undo_refund(admin, sale)
    drain()
    assert undo_refund(admin, override_id).json["commissionCents"] == 200
    assert recruits.overrides("reversed_cents, status") == [(0, "Pending")]


def test_separately_refunded_override_stays_refunded_when_validated(brand):
    recruits = Recruits.create(brand)
    recruits.sell()
    drain()
    ((override_id,),) = recruits.overrides("id")
    brand.post(f"/api/v1/conversions/{override_id}/invalidate")
    refund_by_id(brand, override_id)
    assert recruits.overrides("reversed_cents, status") == [(0, "Invalidated")]

    assert brand.post(f"/api/v1/conversions/{override_id}/validate").json["status"] == "Refunded"
    assert recruits.balance(recruits.ann) == 0
