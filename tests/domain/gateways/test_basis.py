"""Refunds count by their share of the paid amount, not by the conversion's amount."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.gateways import basis
from domain.gateways.basis import RefundedParts

_CENTS = st.integers(1, 10**12)


@pytest.mark.parametrize(
    ("commission_basis", "net_cents", "counted_cents"),
    [("gross", None, 11_900), ("gross", 10_000, 11_900), ("net", 10_000, 10_000), ("net", None, 11_900), ("net", 0, 0)],
)
def test_net_amount_counts_if_the_gateway_reports_it(
    commission_basis: str, net_cents: int | None, counted_cents: int
) -> None:
    assert basis.sale_cents(commission_basis, paid_cents=11_900, net_cents=net_cents) == counted_cents


@pytest.mark.parametrize(
    ("refunded_cents", "expected_cents"), [(0, 0), (1, 0), (3, 2), (5, 2), (7, 4), (9, 4), (10, 5)]
)
def test_refund_share_is_rounded_half_to_even_and_completed_by_the_last_refund(
    refunded_cents: int, expected_cents: int
) -> None:
    sale_cents = basis.refunded_sale_cents(amount_cents=5, paid_cents=10, refunded_cents=refunded_cents)
    assert sale_cents == expected_cents


@given(amount=st.integers(0, 10**12), paid=_CENTS, parts=st.lists(st.integers(0, 10**6), max_size=20))
def test_refunds_in_any_grouping_add_up_to_the_amount(amount: int, paid: int, parts: list[int]) -> None:
    # given: consecutive refunds, never above the remaining amount
    refund_totals, so_far = [0], 0
    for part in parts:
        so_far = min(so_far + part, paid)
        refund_totals.append(so_far)
    refund_totals.append(paid)

    # when
    totals = [
        basis.refunded_sale_cents(amount_cents=amount, paid_cents=paid, refunded_cents=total) for total in refund_totals
    ]

    # then: the totals only grow, each equals the exact share within half a unit, and the last is the whole amount
    assert totals == sorted(totals)
    assert (totals[0], totals[-1]) == (0, amount)
    assert all(
        abs(total - Fraction(amount * refunded, paid)) <= Fraction(1, 2)
        for total, refunded in zip(totals, refund_totals, strict=True)
    )


@given(paid=_CENTS, refunded=_CENTS)
def test_gross_basis_counts_the_whole_refund(paid: int, refunded: int) -> None:
    assert basis.refunded_sale_cents(amount_cents=paid, paid_cents=paid, refunded_cents=refunded) == min(paid, refunded)


def _apply_report(refunded_cents: int, unreported_cents: int | None, reported_cents: int) -> tuple[int, int | None]:
    parts = basis.with_gateway_refunds(RefundedParts(refunded_cents, unreported_cents), reported_cents=reported_cents)
    return parts.refunded_cents, parts.unreported_cents


@pytest.mark.parametrize(
    ("refunded", "unreported", "reported", "expected"),
    [
        (0, None, 40, (40, None)),
        (40, 40, 30, (40, 10)),
        (40, 40, 40, (40, None)),
        (40, 40, 60, (60, None)),
        (80, 40, 80, (80, None)),
        (80, 40, 40, (80, 40)),
        (80, 40, 0, (40, 40)),
        (40, None, 0, (0, None)),
    ],
)
def test_report_first_confirms_the_brands_own_refund(refunded, unreported, reported, expected):
    assert _apply_report(refunded, unreported, reported) == expected


@given(st.integers(0, 100), st.integers(0, 100), st.lists(st.integers(0, 100), max_size=8))
def test_rising_reports_add_up_to_the_last_report(reported, unreported, reports):
    start = (reported + unreported, unreported or None)
    balance = start
    rising = sorted(report for report in reports if report >= reported)
    for report in rising:
        balance = _apply_report(*balance, report)

    assert balance == (_apply_report(*start, rising[-1]) if rising else start)
