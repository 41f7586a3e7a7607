"""Adjusting the commission of a conversion that is Pending or Approved and in no payout."""

import json
from uuid import uuid4

import pytest

from models import db
from models.ledger import rules
from tests.support.api.concurrency import run_concurrently
from tests.support.api.decisions import adjust_commission, read_refund_state, refund_by_id, undo_refund
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.api.payouts import list_audit_entries, problem_fields
from tests.support.job_queues import drain
from tests.support.recruits import Recruits
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion


def _status_and_code(answer):
    return answer.status_code, answer.json["error"]


@pytest.fixture
def recruits(brand):
    """Yield ben, who earns 20 %, and ann, who recruited him and gets 10 % of that; then check the ledger."""
    recruits = Recruits.create(brand)
    yield recruits
    with db.unit_of_work(brand.id):
        assert rules.find_exceptions(brand.id, limit=5) == []


@pytest.mark.parametrize("cents", [0, 1, 1_999, 2_000, 50_000])
def test_commission_is_set_to_the_requested_amount(payroll, cents):
    sale = payroll.sell("ann")

    answer = adjust_commission(payroll.brand, sale, cents)

    assert (answer.status_code, answer.json["commissionCents"], answer.json["amountCents"]) == (200, cents, 10_000)
    assert read_refund_state(payroll.brand, sale) == (0, cents, "Pending")
    assert payroll.balance("ann") == {"USD": cents}


def test_adjustment_is_recorded_in_event_history_and_audit_log(payroll):
    sale = payroll.sell("ann")

    adjust_commission(payroll.brand.person("Manager"), sale, 1_500, "other", note="Agreed by phone")

    ((body,),) = payroll.brand.rows("select body from event where type = 'conversion.adjusted'")
    data = json.loads(body)["data"]
    assert (data["conversionId"], data["amountCents"], data["previousAmountCents"]) == (sale, 10_000, 10_000)
    assert (data["commissionCents"], data["previousCommissionCents"], data["reason"]) == (1_500, 2_000, "other")
    *_, line = payroll.brand.get(f"/api/v1/conversions/{sale}").json["events"]
    assert (line["eventType"], line["amountCents"], line["commissionCents"]) == ("adjustment", 0, -500)
    assert (line["reason"], line["note"]) == ("other", "Agreed by phone")
    ((actor, entity, before, after),) = list_audit_entries(payroll.brand, "conversion.adjusted")
    assert (actor, entity, before["commissionCents"], after["commissionCents"]) == ("member", sale, 2_000, 1_500)
    assert (after["reason"], after["note"]) == ("other", "Agreed by phone")


def test_ledger_gets_an_entry_for_the_difference(payroll):
    sale = payroll.sell("ann")

    adjust_commission(payroll.brand, sale, 1_500)
    adjust_commission(payroll.brand, sale, 3_000)
    adjust_commission(payroll.brand, sale, 3_000)

    entries = payroll.brand.rows("select kind, amount_cents from ledger_entry order by created_at, id")
    assert entries == [("earn", 2_000), ("adjust", -500), ("adjust", 1_500)]


def test_next_run_pays_the_adjusted_commission(payroll):
    adjust_commission(payroll.brand, payroll.sell("ann"), 1_234)

    payroll.run()
    payroll.pay()

    assert payroll.payouts() == [("Paid", 1_234)]
    assert payroll.balance("ann") == {"USD": 0}


def test_refunds_take_their_share_of_the_adjusted_commission(payroll):
    sale = payroll.sell("ann")
    refund_by_id(payroll.brand, sale, amountCents=2_000)
    refund_by_id(payroll.brand, sale, amountCents=2_000)

    assert adjust_commission(payroll.brand, sale, 1_500).json["commissionCents"] == 1_500
    refund_by_id(payroll.brand, sale, amountCents=3_000)
    assert read_refund_state(payroll.brand, sale) == (7_000, 750, "Pending")
    undo_refund(payroll.brand.person("Admin"), sale)
    assert read_refund_state(payroll.brand, sale) == (0, 2_500, "Pending")


@pytest.mark.parametrize("cents", [300, 3_000])
def test_quarantine_after_refunds_and_an_adjustment_changes_nothing(payroll, cents):
    sale = payroll.sell("ann")
    refund_by_id(payroll.brand, sale, amountCents=2_000)
    refund_by_id(payroll.brand, sale, amountCents=2_000)
    adjust_commission(payroll.brand, sale, cents)

    payroll.brand.post(f"/api/v1/conversions/{sale}/invalidate")
    payroll.brand.post(f"/api/v1/conversions/{sale}/validate")

    assert read_refund_state(payroll.brand, sale) == (4_000, cents, "Pending")


@pytest.mark.parametrize("status", ["Paid", "Refunded", "Denied", "Invalidated"])
def test_decided_conversion_is_not_adjustable(brand, status):
    brand.program()
    sale = insert_conversion(brand, brand.affiliate("ann"), status=status)

    assert _status_and_code(adjust_commission(brand, sale, 1)) == (409, "conversion_not_adjustable")


@pytest.mark.parametrize("columns", [{"payout_locked": True}, {"payability": "not_paid_on_campaign"}])
def test_unpayable_conversion_is_not_adjustable(brand, columns):
    brand.program()
    sale = insert_conversion(brand, brand.affiliate("ann"), commission_cents=0, **columns)

    assert _status_and_code(adjust_commission(brand, sale, 1)) == (409, "conversion_not_adjustable")


@pytest.mark.parametrize("rail", ["ok", "slow", "fail", None])
def test_conversion_in_payout_is_refused(payroll, rail):
    sale = payroll.sell("ann")
    payroll.brand.set(sandboxRail=rail or "ok")
    payroll.run()
    if rail:
        payroll.pay()

    code = "conversion_not_adjustable" if rail == "ok" else "conversion_in_payout"
    assert _status_and_code(adjust_commission(payroll.brand, sale, 1)) == (409, code)
    assert payroll.balance("ann") == {"USD": 0 if rail == "ok" else 2_000}


@pytest.mark.parametrize(("cents", "status"), [(50_001, 422), (10**30, 422)])
def test_commission_above_five_times_the_amount_is_out_of_range(payroll, cents, status):
    sale = payroll.sell("ann")

    assert _status_and_code(adjust_commission(payroll.brand, sale, cents)) == (status, "commission_out_of_range")


@pytest.mark.parametrize("cents", [-1, 1.5, "12", True, None, [], "1e3"])
def test_negative_or_non_integer_commission_is_malformed(payroll, cents):
    sale = payroll.sell("ann")

    assert problem_fields(adjust_commission(payroll.brand, sale, cents)) == {"commissionCents"}
    assert read_refund_state(payroll.brand, sale) == (0, 2_000, "Pending")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reason": "mistake"}, "commissionCents"),
        ({"commissionCents": 1}, "reason"),
        ({"commissionCents": 1, "reason": "bored"}, "reason"),
        ({"commissionCents": 1, "reason": "other", "note": "\x00"}, "note"),
        ({"commissionCents": 1, "reason": "other", "amountCents": 1}, "amountCents"),
    ],
)
def test_malformed_body_is_refused_with_problem_details(payroll, body, field):
    sale = payroll.sell("ann")

    assert problem_fields(payroll.brand.post(f"/api/v1/conversions/{sale}/adjust", body)) == {field}


def test_bonus_can_only_be_adjusted_to_zero(payroll):
    body = {"programId": str(payroll.brand.programs[-1]), "affiliateId": str(payroll.affiliates["ann"])}
    answer = payroll.brand.post("/api/v1/conversions", body | {"kind": "bonus", "commissionCents": 500})
    bonus = answer.json["conversion"]["id"]

    assert _status_and_code(adjust_commission(payroll.brand, bonus, 1)) == (422, "commission_out_of_range")
    assert adjust_commission(payroll.brand, bonus, 0).json["commissionCents"] == 0
    assert payroll.balance("ann") == {"USD": 0}


def test_adjusted_import_is_undone_completely(payroll):
    imported = import_sales(payroll.brand, build_past_sale(affiliateSlug="ann"), confirmUnpaidPayout=True).json
    ((sale,),) = payroll.brand.rows("select id from conversion")
    assert adjust_commission(payroll.brand, sale, 700).json["commissionCents"] == 700

    answer = payroll.brand.person("Admin").post(f"/api/imports/{imported['jobId']}/undo")

    assert answer.status_code == 200, answer.json
    assert payroll.balance("ann") == {"USD": 0}
    assert payroll.brand.rows("select from commission_change") == []


def test_other_tenants_conversion_and_unknown_id_return_404(payroll, rival):
    sale = payroll.sell("ann")

    assert [_status_and_code(adjust_commission(rival, conversion_id, 1)) for conversion_id in (sale, uuid4())] == [
        (404, "not_found")
    ] * 2


def test_viewer_read_key_and_free_plan_are_refused(payroll, app):
    sale = payroll.sell("ann")
    free = Brand.create(app, plan="Free")
    free.program()
    readers = (payroll.brand.person("Viewer"), payroll.brand.other_key(scope="read"))

    assert [adjust_commission(reader, sale, 1).status_code for reader in readers] == [403, 403]
    assert adjust_commission(free, insert_conversion(free, free.affiliate("ann")), 1).status_code == 402
    assert adjust_commission(payroll.brand.person("Manager"), sale, 1).status_code == 200


def test_repeated_idempotency_key_adjusts_once(payroll):
    sale = payroll.sell("ann")
    request = [f"/api/v1/conversions/{sale}/adjust", {"reason": "other", "commissionCents": 5}]

    answers = [payroll.brand.post(*request, Idempotency_Key="a") for _ in range(2)]

    assert answers[0].json == answers[1].json
    assert payroll.brand.rows("select count(*) from commission_change") == [(1,)]


def test_adjustment_concurrent_with_a_run_is_paid_or_refused(payroll):
    sale = payroll.sell("ann")

    def start_run():
        try:
            payroll.run()
        except Exception as error:  # the totals changed between its preview and its run
            return error

    run_concurrently(
        start_run,
        lambda: adjust_commission(payroll.brand, sale, 1_000),
        lambda: adjust_commission(payroll.brand, sale, 1_500),
    )
    payroll.pay()

    paid = sum(cents for _, cents in payroll.payouts())
    assert paid in (0, 1_000, 1_500, 2_000)
    assert payroll.balance("ann")["USD"] + paid == read_refund_state(payroll.brand, sale)[1]


def test_override_is_adjusted_by_the_same_percent(recruits):
    sale = recruits.sell()
    drain()

    adjust_commission(recruits.brand, sale, 3_005, "other", note="Promised")

    assert recruits.overrides("commission_cents, status") == [(300, "Pending")]
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (3_005, 300)
    (event,) = recruits.events("conversion.adjusted", is_override=True)
    assert (event["previousCommissionCents"], event["commissionCents"], event["reason"]) == (200, 300, "other")


def test_override_created_after_the_adjustment_uses_the_new_commission(recruits):
    sale = recruits.sell()
    recruits.settle(sale)

    adjust_commission(recruits.brand, sale, 3_000)
    drain()

    assert recruits.overrides("commission_cents") == [(300,)]


def test_commission_raised_from_zero_creates_the_override(recruits):
    recruits.change("update program set default_commission_value = 0")
    sale = recruits.sell()
    drain()
    assert recruits.overrides("commission_cents") == []

    adjust_commission(recruits.brand, sale, 3_000)
    drain()

    assert recruits.overrides("commission_cents") == [(300,)]


def test_refunded_part_of_the_override_is_adjusted_too(recruits):
    sale = recruits.sell()
    drain()
    refund_by_id(recruits.brand, sale, amountCents=4_000)
    drain()

    adjust_commission(recruits.brand, sale, 3_000)

    assert recruits.overrides("commission_cents, reversed_cents") == [(500, 200)]
    assert recruits.balance(recruits.ann) == 300
    refund_by_id(recruits.brand, sale)
    drain()
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (0, 0)


def test_separately_refunded_override_still_earns_nothing(recruits):
    sale = recruits.sell()
    drain()
    ((override_id,),) = recruits.overrides("id")
    refund_by_id(recruits.brand, override_id)

    adjust_commission(recruits.brand, sale, 3_000)
    assert recruits.balance(recruits.ann) == 0

    undo_refund(recruits.brand.person("Admin"), override_id)
    assert recruits.balance(recruits.ann) == 300


def test_quarantined_override_is_adjusted_and_earns_once_validated(recruits):
    sale = recruits.sell()
    drain()
    ((override_id,),) = recruits.overrides("id")
    recruits.brand.post(f"/api/v1/conversions/{override_id}/invalidate")
    refund_by_id(recruits.brand, sale, amountCents=4_000)
    drain()

    adjust_commission(recruits.brand, sale, 3_000)
    assert recruits.balance(recruits.ann) == 0

    recruits.brand.post(f"/api/v1/conversions/{override_id}/validate")
    assert recruits.balance(recruits.ann) == 300


def test_override_cannot_be_adjusted_separately(recruits):
    recruits.sell()
    drain()
    ((override_id,),) = recruits.overrides("id")

    assert _status_and_code(adjust_commission(recruits.brand, override_id, 1)) == (409, "conversion_not_adjustable")


@pytest.mark.parametrize(("cents", "expected"), [(1_000, (200, "Paid", 0)), (3_000, (300, "Approved", 100))])
def test_paid_override_is_raised_but_never_lowered(payroll, cents, expected):
    brand = payroll.brand
    payroll.execute("update program set sub_affiliate_enabled = true, sub_affiliate_percent = 10")
    payroll.execute(
        "update affiliate set recruited_by_affiliate_id = %s where id = %s",
        payroll.affiliates["ann"],
        payroll.affiliates["ben"],
    )
    payroll.execute(
        "update affiliate set payout_method = null, payout_destination = null where id = %s", payroll.affiliates["ben"]
    )
    sale = payroll.sell("ben")
    drain()
    payroll.run()
    payroll.pay()
    assert brand.rows("select status from conversion where parent_id is not null") == [("Paid",)]

    assert adjust_commission(brand, sale, cents).status_code == 200

    ((commission, status),) = brand.rows("select commission_cents, status from conversion where parent_id is not null")
    assert (commission, status, payroll.balance("ann")["USD"]) == expected
