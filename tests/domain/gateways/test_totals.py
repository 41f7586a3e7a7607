"""What an order's own total takes back, in addition to what refunds and disputes took."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.gateways.totals import PaymentTotals, taken_by_total

_CENTS = st.integers(min_value=0, max_value=10_000)


@pytest.mark.parametrize(
    ("total", "by_refunds", "by_disputes", "taken"),
    [
        (None, 0, 0, 0),
        (10_000, 0, 0, 0),
        (6_000, 0, 0, 4_000),
        (6_000, 4_000, 0, 0),  # the refund is the same money
        (6_000, 1_500, 0, 2_500),
        (0, 0, 0, 10_000),
        (0, 4_000, 0, 6_000),
        (0, 0, 10_000, 0),  # the bank took it all before
        (6_000, 0, 8_000, 2_000),
    ],
)
def test_total_takes_what_refunds_and_disputes_left(total, by_refunds, by_disputes, taken) -> None:
    assert taken_by_total(PaymentTotals(10_000, total, by_refunds, by_disputes)) == taken


@given(total=_CENTS, by_refunds=_CENTS, by_disputes=_CENTS)
def test_no_more_goes_back_than_was_paid(total, by_refunds, by_disputes) -> None:
    by_disputes = min(by_disputes, 10_000 - by_refunds)
    taken = taken_by_total(PaymentTotals(10_000, total, by_refunds, by_disputes))
    assert 0 <= taken <= 10_000 - by_refunds - by_disputes
    assert taken + by_refunds + by_disputes >= min(10_000 - total, 10_000)
