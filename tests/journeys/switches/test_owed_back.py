"""A sale that the former system paid and that is refunded there before it pays again: the affiliate owes it back here.

Source: the switch-over rules, "How rows become records" (a negative row with `payable`) and "Undo".
"""

import pytest

from adapters import clock
from models import db
from models.ledger import balances
from tests.support.rows.payroll import Payroll
from tests.support.running import row_ids
from tests.support.switches import undoing
from tests.support.switches.judged_rows import JudgedSwitch, list_exceptions

PAYABLE = {"unpaid": "payable"}


@pytest.fixture
def payroll(app) -> Payroll:
    return Payroll.create(app)


def bring_owed_back(payroll, switch, *, cents=500, **changes):
    """Add a sale that was paid there, and its refund; return the conversion's id."""
    payroll.affiliates["ben"] = switch.affiliate("ben@example.com")
    sale = switch.commission(payroll.affiliates["ben"])
    add_refund(payroll, switch, sale, cents=cents, **changes)
    return sale


def add_refund(payroll, switch, sale, *, cents=500, **changes):
    values = {"status": "Paid", "is_owed_back": True, "commission_cents": cents, "refunded_cents": cents * 5}
    switch.commission(payroll.affiliates["ben"], act="refund", conversion_id=sale, **values | changes)


def find_balances(payroll):
    ben = payroll.affiliates["ben"]
    with db.unit_of_work(payroll.brand.id):
        by_affiliate = balances.list_of_affiliates(
            organization_id=payroll.brand.id, affiliate_ids=[ben], now=clock.now()
        )
    return [(balance.payable_cents, balance.paid_cents) for balance in by_affiliate[ben]]


def test_refund_is_owed_back_and_taken_from_the_next_payout(payroll):
    # given
    switch = JudgedSwitch(payroll.brand, options=PAYABLE)
    bring_owed_back(payroll, switch)

    # when
    switch.run()

    # then
    assert find_balances(payroll) == [(-500, 0)]
    assert list_exceptions(payroll.brand.id) == []

    # when: the affiliate earns 20.00 here
    payroll.execute("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_ben'")
    payroll.sell("ben")
    payroll.run()
    payroll.pay()

    # then
    assert payroll.payouts() == [("Paid", 1_500)]
    assert find_balances(payroll) == [(0, 1_500)]
    assert list_exceptions(payroll.brand.id) == []


@pytest.mark.parametrize("cents", [2_000, 9_000])
def test_full_refund_owes_back_the_whole_commission_and_no_more(payroll, cents):
    switch = JudgedSwitch(payroll.brand, options=PAYABLE)
    sale = bring_owed_back(payroll, switch, cents=cents)
    add_refund(payroll, switch, sale, cents=cents)

    switch.run()

    assert find_balances(payroll) == [(-2_000, 0)]
    assert payroll.brand.rows("select status, reversed_cents from conversion") == [("Refunded", 2_000)]
    assert list_exceptions(payroll.brand.id) == []


def test_refund_that_is_settled_there_owes_nothing(payroll):
    switch = JudgedSwitch(payroll.brand, options=PAYABLE)
    bring_owed_back(payroll, switch, is_owed_back=False)

    switch.run()

    assert find_balances(payroll) == []
    assert payroll.brand.rows("select status, payout_locked, reversed_cents from conversion") == [("Paid", True, 500)]
    assert list_exceptions(payroll.brand.id) == []


def test_only_the_refund_that_is_not_settled_there_is_owed_back(payroll):
    switch = JudgedSwitch(payroll.brand, options=PAYABLE)
    sale = bring_owed_back(payroll, switch)
    add_refund(payroll, switch, sale, cents=300, is_owed_back=False)

    switch.run()

    assert find_balances(payroll) == [(-500, 0)]
    assert payroll.brand.rows("select reversed_cents from conversion") == [(800,)]
    assert list_exceptions(payroll.brand.id) == []


def test_undo_takes_the_debt_back(payroll):
    switch = JudgedSwitch(payroll.brand, options=PAYABLE)
    bring_owed_back(payroll, switch)
    switch.run()
    assert undoing.preview(switch)["taken_back"] == [{"currency": "USD", "cents": -500}]

    undoing.undo(switch)

    assert find_balances(payroll) == []
    assert payroll.brand.rows("select count(*) from conversion") == [(0,)]
    assert list_exceptions(payroll.brand.id) == []


def test_debt_that_a_payout_took_stays(payroll):
    switch = JudgedSwitch(payroll.brand, options=PAYABLE)
    bring_owed_back(payroll, switch)
    switch.run()
    payroll.execute("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_ben'")
    payroll.sell("ben")
    payroll.run()
    payroll.pay()

    undoing.undo(switch)

    assert payroll.brand.rows("select count(*) from conversion where switch_id is not null") == [(1,)]
    assert find_balances(payroll) == [(0, 1_500)]
    assert list_exceptions(payroll.brand.id) == []


def test_second_switch_finds_the_refund_of_a_sale_that_the_first_brought(payroll):
    # given
    first = JudgedSwitch(payroll.brand, options=PAYABLE)
    payroll.affiliates["ben"] = first.affiliate("ben@example.com")
    sale = first.commission(payroll.affiliates["ben"])
    first.run()
    second = JudgedSwitch(payroll.brand, options=PAYABLE)
    add_refund(payroll, second, sale)
    second.run()
    assert find_balances(payroll) == [(-500, 0)]

    # when
    undoing.undo(second)

    # then
    assert find_balances(payroll) == []
    assert list_exceptions(payroll.brand.id) == []
    third = JudgedSwitch(payroll.brand, options=PAYABLE)
    add_refund(payroll, third, sale, target=row_ids.new_id())
    third.run()
    assert find_balances(payroll) == [(-500, 0)]
    assert list_exceptions(payroll.brand.id) == []
