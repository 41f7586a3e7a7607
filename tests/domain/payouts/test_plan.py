"""Candidates paid by a plan: debts from before a restore, and amounts below one US cent."""

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


def _build_due(affiliate_id, currency, cents, payout_cents=None):
    """Return a due amount whose lines are worth `payout_cents`, by default its value at the exchange rate."""
    value_cents = {"EUR": 2 * cents, "USD": cents}.get(currency, 0)
    return Due(affiliate_id, currency, cents, value_cents if payout_cents is None else payout_cents)


def _block_reasons(dues, **changes):
    result = plan(
        dues=[_build_due(_ANN, *due) for due in dues],
        payees={_ANN: _payee(_ANN, **changes)},
        terms=_TERMS,
    )
    return [candidate.blocked for candidate in result.candidates]


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
    assert _block_reasons(dues) == blocked


def test_debt_from_after_a_restore_is_not_netted():
    assert _block_reasons([("EUR", 100), ("USD", -500)], has_restored_debt=False) == [None, "negative_balance"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"is_test": True}, "test_affiliate"),
        ({"is_approved": False}, "affiliate_not_approved"),
        ({"method": None}, "no_payout_account"),
    ],
)
def test_affiliate_blocked_for_another_reason_stays_blocked(changes, reason):
    assert _block_reasons([("EUR", 100), ("USD", -1)], **changes)[0] == reason


def test_minimum_is_compared_with_the_netted_amount():
    assert _block_reasons([("EUR", 100), ("USD", -150)], minimum_cents=51) == ["below_minimum", "below_minimum"]
    assert _block_reasons([("EUR", 100), ("USD", -150)], minimum_cents=50) == [None, None]


def test_debt_of_one_affiliate_does_not_block_another():
    result = plan(
        dues=[_build_due(_ANN, "USD", -500), _build_due(_BEN, "USD", 100)],
        payees={_ANN: _payee(_ANN), _BEN: _payee(_BEN, has_restored_debt=False)},
        terms=_TERMS,
    )

    assert result.native_totals == {"USD": 100}


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
def test_lines_summing_to_less_than_one_cent_are_blocked(dues, blocked):
    assert _block_reasons(dues, has_restored_debt=False) == blocked


def test_netted_amount_below_one_cent_is_blocked_in_every_currency():
    assert _block_reasons([("EUR", 100, 150), ("USD", -150, -150)]) == ["below_one_cent", "below_one_cent"]


def test_below_minimum_is_reported_before_below_one_cent():
    assert _block_reasons([("EUR", 3, 0)], has_restored_debt=False, minimum_cents=1_000) == ["below_minimum"]


def test_payouts_are_the_sums_of_unblocked_candidates():
    result = plan(
        dues=[_build_due(_ANN, "EUR", 10, 19), _build_due(_ANN, "USD", 5), _build_due(_BEN, "EUR", 1, 0)],
        payees={_ANN: _payee(_ANN, has_restored_debt=False), _BEN: _payee(_BEN, has_restored_debt=False)},
        terms=_TERMS,
    )

    assert result.payouts == {_ANN: 24}
    assert result.payout_total_cents == 24
    assert result.native_totals == {"EUR": 10, "USD": 5}
