"""Amount reversed by an order's reduced total, in addition to its refunds and disputes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.gateways.totals import PaymentTotals, taken_by_total

_CENTS = st.integers(min_value=0, max_value=10_000)


@pytest.mark.parametrize(
    ("total", "by_refunds", "by_disputes", "expected"),
    [
        (None, 0, 0, 0),
        (10_000, 0, 0, 0),
        (6_000, 0, 0, 4_000),
        (6_000, 4_000, 0, 0),  # the refund covers the same amount
        (6_000, 1_500, 0, 2_500),
        (0, 0, 0, 10_000),
        (0, 4_000, 0, 6_000),
        (0, 0, 10_000, 0),  # the dispute already reversed all of it
        (6_000, 0, 8_000, 2_000),
    ],
)
def test_reduced_total_reverses_the_part_not_refunded_or_disputed(total, by_refunds, by_disputes, expected) -> None:
    assert taken_by_total(PaymentTotals(10_000, total, by_refunds, by_disputes)) == expected


@given(total=_CENTS, by_refunds=_CENTS, by_disputes=_CENTS)
def test_reversals_never_exceed_the_paid_amount(total, by_refunds, by_disputes) -> None:
    by_disputes = min(by_disputes, 10_000 - by_refunds)
    reversed_cents = taken_by_total(PaymentTotals(10_000, total, by_refunds, by_disputes))
    assert 0 <= reversed_cents <= 10_000 - by_refunds - by_disputes
    assert reversed_cents + by_refunds + by_disputes >= min(10_000 - total, 10_000)
