"""Refunds count by their share of what was paid, whatever the conversion's amount is."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.gateways import basis
from domain.gateways.basis import RefundedParts

_CENTS = st.integers(1, 10**12)


@pytest.mark.parametrize(
    ("chosen", "net_cents", "counted_cents"),
    [("gross", None, 11_900), ("gross", 10_000, 11_900), ("net", 10_000, 10_000), ("net", None, 11_900), ("net", 0, 0)],
)
def test_net_counts_where_the_gateway_tells_it(chosen: str, net_cents: int | None, counted_cents: int) -> None:
    assert basis.sale_cents(chosen, paid_cents=11_900, net_cents=net_cents) == counted_cents


@pytest.mark.parametrize(("refunded_cents", "of_it_cents"), [(0, 0), (1, 0), (3, 2), (5, 2), (7, 4), (9, 4), (10, 5)])
def test_halves_go_to_the_even_unit_and_the_completing_refund_takes_the_rest(
    refunded_cents: int, of_it_cents: int
) -> None:
    found = basis.refunded_sale_cents(amount_cents=5, paid_cents=10, refunded_cents=refunded_cents)
    assert found == of_it_cents


@given(amount=st.integers(0, 10**12), paid=_CENTS, parts=st.lists(st.integers(0, 10**6), max_size=20))
def test_refunds_in_any_grouping_add_up_and_never_exceed_the_amount(amount: int, paid: int, parts: list[int]) -> None:
    # given: refunds one after the other, never more than what is left
    told, so_far = [0], 0
    for part in parts:
        so_far = min(so_far + part, paid)
        told.append(so_far)
    told.append(paid)

    # when
    totals = [basis.refunded_sale_cents(amount_cents=amount, paid_cents=paid, refunded_cents=total) for total in told]

    # then: they only grow, each is the exact share to half a unit, and the last one completes
    assert totals == sorted(totals)
    assert (totals[0], totals[-1]) == (0, amount)
    assert all(
        abs(total - Fraction(amount * back, paid)) <= Fraction(1, 2) for total, back in zip(totals, told, strict=True)
    )


@given(paid=_CENTS, refunded=_CENTS)
def test_with_the_basis_gross_a_refund_counts_as_it_is(paid: int, refunded: int) -> None:
    assert basis.refunded_sale_cents(amount_cents=paid, paid_cents=paid, refunded_cents=refunded) == min(paid, refunded)


def _followed(refunded_cents: int, unreported_cents: int | None, reported_cents: int) -> tuple[int, int | None]:
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
def test_report_counts_as_the_brands_refund_first(refunded, unreported, reported, expected):
    assert _followed(refunded, unreported, reported) == expected


@given(st.integers(0, 100), st.integers(0, 100), st.lists(st.integers(0, 100), max_size=8))
def test_rising_reports_in_any_steps_end_as_the_last_one(known, unreported, reports):
    start = (known + unreported, unreported or None)
    steps = start
    rising = sorted(report for report in reports if report >= known)
    for report in rising:
        steps = _followed(*steps, report)

    assert steps == (_followed(*start, rising[-1]) if rising else start)
