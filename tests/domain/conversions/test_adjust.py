"""How a manual commission change affects the refunds and the override of a conversion."""

from fractions import Fraction
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.conversions import adjust
from domain.conversions.adjust import AdjustableConversion, AdjustmentRefused
from domain.conversions.review import AppliedRefund

_SALE = {"amount_cents": 10_000, "refunded_cents": 0, "status": "Pending", "can_earn": True, "is_in_payout": False}


def _commission(requested_cents: int, **changes: object) -> int:
    return adjust.commission(AdjustableConversion(**_SALE | changes), net_cents=requested_cents)  # type: ignore[arg-type]


def _code(requested_cents: int, **changes: object) -> str:
    with pytest.raises(AdjustmentRefused) as refused:
        _commission(requested_cents, **changes)
    return refused.value.code


@pytest.mark.parametrize("requested_cents", [0, 1, 2_000, 50_000])
def test_sale_without_refunds_gets_the_requested_commission(requested_cents: int) -> None:
    assert _commission(requested_cents) == requested_cents


@pytest.mark.parametrize(
    ("amount_cents", "refunded_cents", "requested_cents", "expected"),
    [(10_000, 4_000, 1_500, 2_500), (10_000, 4_000, 0, 0), (3, 1, 1, 2), (7, 6, 1, 4), (10_000, 9_999, 5, 50_000)],
)
def test_partly_refunded_sale_keeps_the_requested_net_commission(
    amount_cents: int, refunded_cents: int, requested_cents: int, expected: int
) -> None:
    commission_cents = _commission(requested_cents, amount_cents=amount_cents, refunded_cents=refunded_cents)

    reversed_cents = Fraction(commission_cents * refunded_cents, amount_cents)
    assert commission_cents - round(reversed_cents) == requested_cents
    assert abs(commission_cents - expected) * (amount_cents - refunded_cents) <= amount_cents


@given(st.data())
def test_any_requested_net_commission_is_reached_to_the_cent(data: st.DataObject) -> None:
    amount_cents = data.draw(st.integers(1, 10**12))
    refunded_cents = data.draw(st.integers(0, amount_cents - 1))
    requested_cents = data.draw(st.integers(0, 5 * (amount_cents - refunded_cents)))

    commission_cents = _commission(requested_cents, amount_cents=amount_cents, refunded_cents=refunded_cents)

    assert commission_cents - round(Fraction(commission_cents * refunded_cents, amount_cents)) == requested_cents


@pytest.mark.parametrize("status", ["Paid", "Refunded", "Denied", "Invalidated"])
def test_settled_conversion_is_not_adjustable(status: str) -> None:
    assert _code(1, status=status) == "conversion_not_adjustable"


def test_conversion_that_cannot_earn_is_not_adjustable() -> None:
    assert _code(1, can_earn=False) == "conversion_not_adjustable"


def test_conversion_in_payout_is_refused() -> None:
    assert _code(1, is_in_payout=True) == "conversion_in_payout"


@pytest.mark.parametrize("changes", [{}, {"refunded_cents": 4_000}, {"amount_cents": 0}])
def test_commission_above_five_times_the_remaining_amount_is_out_of_range(changes: dict[str, int]) -> None:
    limit_cents = 5 * (changes.get("amount_cents", 10_000) - changes.get("refunded_cents", 0))

    assert _code(limit_cents + 1, **changes) == "commission_out_of_range"
    _commission(limit_cents, **changes)


@pytest.mark.parametrize(
    ("status", "share_cents", "expected"),
    [("Pending", 1, 1), ("Approved", 300, 300), ("Denied", 1, 1), ("Paid", 300, 300), ("Paid", 100, 200)],
)
def test_override_follows_its_sale_but_never_below_the_paid_amount(
    status: str, share_cents: int, expected: int
) -> None:
    override_cents = adjust.override_commission(status=status, commission_cents=200, share_cents=share_cents)

    assert override_cents == expected


def test_each_refund_reverses_its_share_of_the_new_commission() -> None:
    first, second, restoration = UUID(int=1), UUID(int=2), UUID(int=3)
    refunds = [
        AppliedRefund(first, cumulative_cents=2_000, is_full=False, taken_cents=400),
        AppliedRefund(second, cumulative_cents=4_000, is_full=False, taken_cents=400),
        AppliedRefund(restoration, cumulative_cents=1_000, is_full=False, is_restoration=True, taken_cents=-600),
    ]

    changes = adjust.reversal_changes(commission_cents=1_000, amount_cents=10_000, refunds=refunds)

    assert changes == [(first, -200), (second, -200), (restoration, 300)]


def test_refund_with_an_unchanged_reversal_is_omitted() -> None:
    refunds = [AppliedRefund(UUID(int=1), cumulative_cents=2_000, is_full=False, taken_cents=400)]

    assert adjust.reversal_changes(commission_cents=2_000, amount_cents=10_000, refunds=refunds) == []
