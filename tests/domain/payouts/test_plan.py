"""Which candidates a plan pays: debts from before a restore, and amounts below one US cent."""

from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest

from domain.payouts.plan import Due, Payee, RunRate, RunTerms, plan

_ANN, _BEN = UUID(int=1), UUID(int=2)
_TERMS = RunTerms(
    home_currency="USD",
    rates={"EUR": RunRate(Decimal("0.5"), date(2026, 11, 28)), "USD": RunRate(Decimal(1), date(2026, 11, 28))},
    is_tax_form_required=False,
)


def _payee(affiliate_id, **changes):
    return Payee(
        **{
            "affiliate_id": affiliate_id,
            "program_id": UUID(int=9),
            "email": "ann@example.com",
            "full_name": "Ann",
            "is_approved": True,
            "is_test": False,
            "method": "Wallet",
            "destination": "ann@example.com",
            "has_tax_form": False,
            "has_restored_debt": True,
            "minimum_cents": None,
            "minimum_currency": None,
        }
        | changes
    )


def _due(affiliate_id, currency, cents, payout_cents=None):
    """Return a due amount; its lines are worth what it is worth at the rate, unless stated otherwise."""
    worth = {"EUR": 2 * cents, "USD": cents}.get(currency, 0)
    return Due(affiliate_id, currency, cents, worth if payout_cents is None else payout_cents)


def _blocked(dues, **changes):
    planned = plan(
        dues=[_due(_ANN, *due) for due in dues],
        payees={_ANN: _payee(_ANN, **changes)},
        terms=_TERMS,
    )
    return [one.blocked for one in planned.candidates]


@pytest.mark.parametrize(
    ("dues", "blocked"),
    [
        ([("EUR", 100), ("USD", -199)], [None, None]),
        ([("EUR", 100), ("USD", -200)], ["negative_balance", "negative_balance"]),
        ([("EUR", -100), ("USD", 201)], [None, None]),
        ([("EUR", -101), ("USD", 201)], ["negative_balance", "negative_balance"]),
        ([("EUR", 100), ("USD", 5)], [None, None]),
        ([("EUR", -100), ("USD", -5)], ["negative_balance", "negative_balance"]),
        ([("GBP", 100), ("USD", -5)], ["fx_unavailable", "negative_balance"]),
        ([("GBP", -1), ("USD", 500)], ["negative_balance", "negative_balance"]),
        ([("EUR", 100), ("GBP", 100), ("USD", -5)], [None, "fx_unavailable", None]),
    ],
)
def test_restored_debt_is_netted_over_all_currencies(dues, blocked):
    assert _blocked(dues) == blocked


def test_other_debts_stay_in_their_currency():
    assert _blocked([("EUR", 100), ("USD", -500)], has_restored_debt=False) == [None, "negative_balance"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"is_test": True}, "test_affiliate"),
        ({"is_approved": False}, "affiliate_not_approved"),
        ({"method": None}, "no_payout_account"),
    ],
)
def test_affiliate_who_is_not_paid_for_another_reason_stays_so(changes, reason):
    assert _blocked([("EUR", 100), ("USD", -1)], **changes)[0] == reason


def test_minimum_is_compared_with_the_difference():
    assert _blocked([("EUR", 100), ("USD", -150)], minimum_cents=51) == ["below_minimum", "below_minimum"]
    assert _blocked([("EUR", 100), ("USD", -150)], minimum_cents=50) == [None, None]


def test_debt_of_one_affiliate_does_not_hold_back_another():
    planned = plan(
        dues=[_due(_ANN, "USD", -500), _due(_BEN, "USD", 100)],
        payees={_ANN: _payee(_ANN), _BEN: _payee(_BEN, has_restored_debt=False)},
        terms=_TERMS,
    )

    assert planned.native_totals == {"USD": 100}


@pytest.mark.parametrize(
    ("dues", "blocked"),
    [
        ([("EUR", 3, 0)], ["below_one_cent"]),
        ([("EUR", 3, -1)], ["below_one_cent"]),
        ([("EUR", 3, 1)], [None]),
        ([("EUR", 3, 0), ("USD", 1, 1)], [None, None]),
        ([("EUR", 3, -1), ("USD", 1, 1)], ["below_one_cent", "below_one_cent"]),
        ([("EUR", 3, 0), ("USD", -5, -5)], ["below_one_cent", "negative_balance"]),
    ],
)
def test_affiliate_whose_lines_add_up_to_less_than_one_cent_is_blocked(dues, blocked):
    assert _blocked(dues, has_restored_debt=False) == blocked


def test_netted_difference_below_one_cent_is_blocked_in_every_currency():
    assert _blocked([("EUR", 100, 150), ("USD", -150, -150)]) == ["below_one_cent", "below_one_cent"]


def test_minimum_is_named_before_one_cent():
    assert _blocked([("EUR", 3, 0)], has_restored_debt=False, minimum_cents=1_000) == ["below_minimum"]


def test_payouts_are_the_sums_of_ready_candidates():
    planned = plan(
        dues=[_due(_ANN, "EUR", 10, 19), _due(_ANN, "USD", 5), _due(_BEN, "EUR", 1, 0)],
        payees={_ANN: _payee(_ANN, has_restored_debt=False), _BEN: _payee(_BEN, has_restored_debt=False)},
        terms=_TERMS,
    )

    assert planned.payouts == {_ANN: 24}
    assert planned.payout_total_cents == 24
    assert planned.native_totals == {"EUR": 10, "USD": 5}
