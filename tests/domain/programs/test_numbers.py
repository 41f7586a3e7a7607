"""Amounts are summed per currency and valued at the exchange rate of their day."""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.money import fx, money, valuation
from domain.money.valuation import PublishedRate
from domain.programs.numbers import Budget, Money, Part, total

_MONDAY = date(2026, 3, 2)


def _factor(
    day_offset: int, published: list[PublishedRate], *, native: str = "EUR", home: str = "USD"
) -> Fraction | None:
    factors = valuation.compute_factors(home=home, currencies=[native], published=published)
    index = (_MONDAY + timedelta(days=day_offset) - factors.first_day).days
    (row,) = factors.rows
    return row[index] if 0 <= index < len(row) else None


def test_total_lists_amounts_without_a_rate_separately():
    parts = [Part("USD", 100, None), Part("EUR", 50, 7), Part("EUR", None, 3), Part("JPY", None, 900)]

    assert total(parts) == Money(150, {"EUR": 10, "JPY": 900})


def test_total_with_all_rates_has_no_separate_amounts():
    assert total([Part("USD", 100, None)]) == Money(100, None)
    assert total([]) == Money(0, None)


@pytest.mark.parametrize(("budget", "spent", "remaining"), [(500, 200, 300), (500, 900, 0), (0, 0, 0), (None, 5, None)])
def test_remaining_budget_is_never_negative(budget, spent, remaining):
    status = Budget(budget, Money(spent, None), "USD")

    assert (status.remaining_cents, status.is_unlimited) == (remaining, budget is None)


def test_unconvertible_budget_is_limited_with_an_unknown_remainder():
    status = Budget(None, Money(5, None), "USD", is_unconvertible=True)

    assert (status.remaining_cents, status.is_unlimited) == (None, False)


def test_held_signal_sums_over_all_currencies():
    assert Budget(None, Money(0, {"EUR": 5, "JPY": 7}), "USD").held_signal == 12
    assert Budget(None, Money(0, None), "USD").held_signal == 0


@pytest.mark.parametrize(("day_offset", "is_fresh"), [(-1, False), (0, True), (3, True), (4, False)])
def test_rate_is_valid_on_its_day_and_three_more(day_offset, is_fresh):
    factor = _factor(day_offset, [PublishedRate("EUR", _MONDAY, Decimal("0.8"))])

    assert factor == (Fraction(5, 4) if is_fresh else None)


def test_newer_rate_replaces_an_older_one_in_any_order():
    rates = [
        PublishedRate("EUR", _MONDAY + timedelta(days=1), Decimal("0.5")),
        PublishedRate("EUR", _MONDAY, Decimal("0.8")),
    ]

    assert [_factor(offset, rates) for offset in (0, 1, 4)] == [Fraction(5, 4), Fraction(2), Fraction(2)]


def test_conversion_needs_a_rate_for_every_currency_but_the_dollar():
    rates = [PublishedRate("EUR", _MONDAY, Decimal("0.8"))]

    assert _factor(0, rates, native="USD", home="EUR") == Fraction(4, 5)
    assert _factor(0, rates, native="JPY", home="EUR") is None
    assert _factor(0, rates, native="EUR", home="JPY") is None


def test_published_dollar_rate_is_ignored():
    assert _factor(0, [PublishedRate("USD", _MONDAY, Decimal(3)), PublishedRate("EUR", _MONDAY, Decimal("0.5"))]) == 2


def test_home_currency_has_no_factor():
    assert valuation.compute_factors(home="USD", currencies=["USD"], published=[]).currencies == []


_PER_USD = st.decimals(min_value="0.000001", max_value="100000", places=12)


@given(
    cents=st.integers(min_value=0, max_value=10**13),
    native=st.sampled_from(["USD", "EUR", "JPY", "KWD"]),
    home=st.sampled_from(["USD", "GBP", "VND", "BHD"]),
    rates=st.tuples(_PER_USD, _PER_USD),
)
def test_amount_times_its_factor_equals_the_converted_amount(cents, native, home, rates):
    per_usd = {native: rates[0], home: rates[1]}
    published = [PublishedRate(currency, _MONDAY, rate) for currency, rate in per_usd.items()]
    if native == home:
        return
    factors = valuation.compute_factors(home=home, currencies=[native], published=published)
    # Dollars need no rate.
    factor = factors.rows[0][0]
    assert factor is not None

    assert money.divide_half_even(cents * factor.numerator, factor.denominator) == fx.to_currency(
        amount_cents=cents, from_currency=native, to_currency=home, per_usd=per_usd
    )
