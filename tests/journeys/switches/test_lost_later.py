"""A commission that came as unpaid and that is lost in the former system later: paid here, in a payout, or held.

Source: the switch-over rules, "Known and changed" (lost makes it Refunded or Denied) and "Undo".
"""

import pytest

from domain.switches.records import CommissionKind
from tests.support.rows.payroll import Payroll
from tests.support.switches import undoing
from tests.support.switches.judged_rows import list_exceptions
from tests.support.switches.source_records import (
    build_commission,
    find_payable,
    list_conversions,
    read,
    run,
    sum_balances,
)

_LOST = [CommissionKind.Refunded, CommissionKind.Denied]


@pytest.fixture
def payroll(app) -> Payroll:
    return Payroll.create(app)


def _bring(payroll, monkeypatch, kind=CommissionKind.Owed, **fields):
    return read(payroll.brand, monkeypatch, [build_commission("c1", kind=kind, payment="p1", **fields)])


def _claim(payroll, *, is_paid):
    """Create a payout of ann's commission and of 20.00 that she earned here."""
    payroll.execute("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_ann'")
    payroll.sell("ann")
    payroll.run()
    if is_paid:
        payroll.pay()


@pytest.mark.parametrize("kind", _LOST)
@pytest.mark.parametrize("is_paid", [True, False], ids=["paid", "open"])
def test_commission_of_a_payout_is_refunded_when_it_is_lost(payroll, monkeypatch, kind, is_paid):
    # given
    run(_bring(payroll, monkeypatch))
    _claim(payroll, is_paid=is_paid)
    owed_before = sum_balances(payroll.brand)
    second = _bring(payroll, monkeypatch, kind)

    # when
    run(second)

    # then
    assert second.verdicts("commissions") == {"c1": "changed"}
    conversions = list_conversions(payroll.brand, "status, payout_locked, reversed_cents")
    assert conversions == {"c1": ("Refunded", False, 2_000)}
    assert find_payable(second) == sum_balances(payroll.brand) - owed_before == -2_000
    assert [amount for _, amount in payroll.payouts()] == [4_000 if is_paid else 2_000]
    assert run(_bring(payroll, monkeypatch, kind)).verdicts("commissions") == {"c1": "known"}


def test_paid_commission_is_taken_from_the_next_payout(payroll, monkeypatch):
    run(_bring(payroll, monkeypatch))
    _claim(payroll, is_paid=True)
    run(_bring(payroll, monkeypatch, CommissionKind.Refunded))

    payroll.sell("ann", 20_000)
    payroll.run()
    payroll.pay()

    assert [amount for _, amount in payroll.payouts()] == [4_000, 2_000]
    assert sum_balances(payroll.brand) == 0
    assert list_exceptions(payroll.brand.id) == []


def test_open_payout_shrinks_with_a_negative_row_and_then_pays_the_rest(payroll, monkeypatch):
    # given
    run(_bring(payroll, monkeypatch))
    _claim(payroll, is_paid=False)
    usual = {"kind": CommissionKind.Owed, "payment": "p1"}
    sale = build_commission("c1", **usual)
    refunds = [
        build_commission(f"r{cents}", amount_cents=-2_500, commission_cents=-cents, **usual) for cents in (300, 200)
    ]

    # when
    run(read(payroll.brand, monkeypatch, [sale, *refunds]))

    # then
    assert payroll.payouts() == [("Pending", 3_500)]
    payroll.pay()
    assert payroll.payouts() == [("Paid", 3_500)]
    assert sum_balances(payroll.brand) == 0
    assert list_exceptions(payroll.brand.id) == []


def test_change_is_booked_as_a_refund_if_a_payout_took_the_commission_since_the_preview(payroll, monkeypatch):
    run(_bring(payroll, monkeypatch))
    second = _bring(payroll, monkeypatch, CommissionKind.Denied)
    second.judge()
    _claim(payroll, is_paid=True)

    run(second)

    assert list_conversions(payroll.brand, "status, payout_locked, paid_cents") == {"c1": ("Refunded", False, 2_000)}
    assert sum_balances(payroll.brand) == -2_000


def test_undo_keeps_a_refund_of_what_a_payout_names(payroll, monkeypatch):
    run(_bring(payroll, monkeypatch))
    _claim(payroll, is_paid=True)
    second = run(_bring(payroll, monkeypatch, CommissionKind.Refunded))

    undoing.undo(second)

    assert list_conversions(payroll.brand, "status") == {"c1": ("Refunded",)}
    assert list_exceptions(payroll.brand.id) == []


@pytest.mark.parametrize(("kind", "status"), [(CommissionKind.Refunded, "Refunded"), (CommissionKind.Denied, "Denied")])
def test_held_commission_is_lost_once(payroll, monkeypatch, kind, status):
    # given
    run(_bring(payroll, monkeypatch, CommissionKind.Held))
    assert list_conversions(payroll.brand, "status, payout_locked") == {"c1": ("Invalidated", False)}

    # when
    second = run(_bring(payroll, monkeypatch, kind))
    third = run(_bring(payroll, monkeypatch, kind))

    # then
    assert third.verdicts("commissions") == {"c1": "known"}
    assert list_conversions(payroll.brand, "status, payout_locked") == {"c1": (status, True)}
    assert payroll.brand.rows("select count(*) from refund") == [(int(status == "Refunded"),)]
    assert find_payable(second) == sum_balances(payroll.brand) == 0
    undoing.undo(second)
    assert list_conversions(payroll.brand, "status, payout_locked, reversed_cents") == {"c1": ("Invalidated", False, 0)}
    assert list_exceptions(payroll.brand.id) == []


def test_commission_that_was_invalidated_in_a_payout_is_denied_when_it_is_lost(payroll, monkeypatch):
    run(_bring(payroll, monkeypatch))
    _claim(payroll, is_paid=False)
    ((conversion_id,),) = payroll.brand.rows("select id from conversion where switch_id is not null")
    answer = payroll.brand.person("Owner").post(f"/api/v1/conversions/{conversion_id}/invalidate", {})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert list_exceptions(payroll.brand.id) == []

    run(_bring(payroll, monkeypatch, CommissionKind.Refunded))

    assert list_conversions(payroll.brand, "status, payout_locked") == {"c1": ("Denied", False)}
