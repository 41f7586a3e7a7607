"""Amounts are computed exactly and rounded half to even."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.money import money


@pytest.mark.parametrize(
    ("numerator", "denominator", "quotient"),
    [
        (0, 7, 0),
        (1, 2, 0),
        (3, 2, 2),
        (5, 2, 2),
        (7, 2, 4),
        (7, 3, 2),
        (8, 3, 3),
        (-1, 2, 0),
        (-3, 2, -2),
        (-5, 2, -2),
        (-7, 2, -4),
        (-7, 3, -2),
        (-8, 3, -3),
        (10**30 + 5, 10, 10**29),
        (10**30 + 15, 10, 10**29 + 2),
    ],
)
def test_division_rounds_ties_to_the_even_neighbour(numerator: int, denominator: int, quotient: int) -> None:
    assert money.divide_half_even(numerator, denominator) == quotient


@pytest.mark.parametrize("denominator", [0, -1])
def test_division_refuses_a_non_positive_denominator(denominator: int) -> None:
    with pytest.raises(ValueError, match="denominator"):
        money.divide_half_even(1, denominator)


@given(
    numerator=st.integers(min_value=-(10**30), max_value=10**30),
    denominator=st.integers(min_value=1, max_value=10**15),
)
def test_division_agrees_with_decimal_half_even(numerator: int, denominator: int) -> None:
    # Whole part and remainder are divided separately so that the context's precision suffices.
    whole, remainder = divmod(numerator, denominator)
    wide = Context(prec=200)
    quotient = wide.add(Decimal(whole), wide.divide(Decimal(remainder), Decimal(denominator)))

    rounded = quotient.quantize(Decimal(1), rounding=ROUND_HALF_EVEN, context=wide)

    assert money.divide_half_even(numerator, denominator) == int(rounded)


@pytest.mark.parametrize(
    ("amount_cents", "percent", "share_cents"),
    [
        (1000, "20", 200),
        (25, "10", 2),
        (35, "10", 4),
        (250, "0.2", 0),
        (750, "0.2", 2),
        (999, "33.333333", 333),
        (1_000_000_000_000, "100", 1_000_000_000_000),
        (1_000_000_000_000, "99.9999999999", 999_999_999_999),
        (1_000_000_000_000, "99.999999999999999999", 1_000_000_000_000),
        (4900, "0", 0),
        (-25, "10", -2),
        (-35, "10", -4),
    ],
)
def test_percentage_is_rounded_once(amount_cents: int, percent: str, share_cents: int) -> None:
    assert money.percent_of(amount_cents=amount_cents, percent=Decimal(percent)) == share_cents


@pytest.mark.parametrize("percent", ["NaN", "Infinity"])
def test_percent_of_a_non_finite_number_is_refused(percent: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        money.percent_of(amount_cents=1, percent=Decimal(percent))


@pytest.mark.parametrize(
    ("major", "currency", "minor"),
    [
        ("5", "USD", 500),
        ("5", "JPY", 5),
        ("5", "KWD", 5000),
        ("5", "MGA", 500),
        ("0.005", "USD", 0),
        ("0.015", "USD", 2),
        ("0.5", "JPY", 0),
        ("1.5", "JPY", 2),
        ("2.5", "VND", 2),
        ("0.0125", "BHD", 12),
        ("1000000", "TND", 1_000_000_000),
        ("-1.005", "EUR", -100),
    ],
)
def test_major_units_become_minor_units_of_their_own_currency(major: str, currency: str, minor: int) -> None:
    assert money.major_to_minor(major=Decimal(major), currency=currency) == minor


def test_major_units_of_an_unsupported_currency_are_refused() -> None:
    with pytest.raises(ValueError, match="XYZ"):
        money.major_to_minor(major=Decimal(1), currency="XYZ")


def test_largest_amount_is_a_million_million_minor_units() -> None:
    assert money.MAX_AMOUNT_CENTS == 1_000_000_000_000
