"""Which candidates a plan pays when something was paid before a restore that the books had forgotten."""

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


def _blocked(dues, **changes):
    planned = plan(
        dues=[Due(_ANN, *due) for due in dues],
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
        dues=[Due(_ANN, "USD", -500), Due(_BEN, "USD", 100)],
        payees={_ANN: _payee(_ANN), _BEN: _payee(_BEN, has_restored_debt=False)},
        terms=_TERMS,
    )

    assert planned.native_totals == {"USD": 100}
