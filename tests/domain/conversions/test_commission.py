"""The most specific rate applies, and the commission is computed in the sale's currency."""

from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.conversions.commission import CommissionRate, CommissionType, RateFacts, RevenueTier, choose_rate, price

SILVER = RevenueTier(min_revenue_cents=100_000, currency="USD", type=CommissionType.Percentage, value=Decimal(25))
GOLD = RevenueTier(min_revenue_cents=500_000, currency="USD", type=CommissionType.Percentage, value=Decimal(30))

EVERY_LEVEL = RateFacts(
    custom_type=CommissionType.Fixed,
    custom_value=Decimal(7),
    group_type=CommissionType.Percentage,
    group_value=Decimal(40),
    tiers=(SILVER, GOLD),
    tier_revenue_cents=Fraction(500_000),
    home_currency="USD",
    per_usd={},
    default_type=CommissionType.Percentage,
    default_value=Decimal(20),
)
NO_OVERRIDE = replace(EVERY_LEVEL, custom_type=None, custom_value=None)
TIERS_AND_DEFAULT = replace(NO_OVERRIDE, group_type=None, group_value=None)


def percentage_rate(value: str) -> CommissionRate:
    return CommissionRate(type=CommissionType.Percentage, value=Decimal(value), source="program")


def fixed_rate(value: str) -> CommissionRate:
    return CommissionRate(type=CommissionType.Fixed, value=Decimal(value), source="program")


def test_affiliate_rate_wins_over_every_other_level() -> None:
    rate = choose_rate(EVERY_LEVEL)

    assert rate == CommissionRate(type=CommissionType.Fixed, value=Decimal(7), source="affiliate")


def test_partner_group_wins_over_tier_and_default() -> None:
    rate = choose_rate(NO_OVERRIDE)

    assert rate == CommissionRate(type=CommissionType.Percentage, value=Decimal(40), source="group")


def test_tier_wins_over_the_default() -> None:
    rate = choose_rate(TIERS_AND_DEFAULT)

    assert rate == CommissionRate(type=CommissionType.Percentage, value=Decimal(30), source="tier")


def test_default_applies_without_any_other_rate() -> None:
    rate = choose_rate(replace(TIERS_AND_DEFAULT, tiers=()))

    assert rate == CommissionRate(type=CommissionType.Percentage, value=Decimal(20), source="program")


@pytest.mark.parametrize(
    ("revenue_cents", "value", "source"),
    [
        (-1, "20", "program"),
        (99_999, "20", "program"),
        (100_000, "25", "tier"),
        (499_999, "25", "tier"),
        (500_000, "30", "tier"),
        (9_000_000, "30", "tier"),
    ],
)
@pytest.mark.parametrize("tiers", [(SILVER, GOLD), (GOLD, SILVER)])
def test_highest_reached_tier_counts(
    tiers: tuple[RevenueTier, ...], revenue_cents: int, value: str, source: str
) -> None:
    rate = choose_rate(replace(TIERS_AND_DEFAULT, tiers=tiers, tier_revenue_cents=Fraction(revenue_cents)))

    assert (rate.value, rate.source) == (Decimal(value), source)


def test_affiliate_rate_of_zero_applies() -> None:
    rate = choose_rate(replace(EVERY_LEVEL, custom_type=CommissionType.Percentage, custom_value=Decimal(0)))

    assert rate == CommissionRate(type=CommissionType.Percentage, value=Decimal(0), source="affiliate")


def test_group_rate_of_zero_applies() -> None:
    rate = choose_rate(replace(NO_OVERRIDE, group_value=Decimal(0)))

    assert rate == CommissionRate(type=CommissionType.Percentage, value=Decimal(0), source="group")


def test_tier_rate_of_zero_applies() -> None:
    zero_tier = RevenueTier(min_revenue_cents=0, currency="USD", type=CommissionType.Fixed, value=Decimal(0))

    rate = choose_rate(replace(TIERS_AND_DEFAULT, tiers=(zero_tier,), tier_revenue_cents=Fraction(0)))

    assert rate == CommissionRate(type=CommissionType.Fixed, value=Decimal(0), source="tier")


PER_USD = {"USD": Decimal(1), "EUR": Decimal("0.9"), "JPY": Decimal("150.37"), "KWD": Decimal("0.307")}


def _source_in(home: str, currency: str, min_revenue_cents: int, revenue: Fraction, per_usd: dict[str, Decimal]) -> str:
    tier = RevenueTier(
        min_revenue_cents=min_revenue_cents, currency=currency, type=CommissionType.Fixed, value=Decimal(1)
    )
    facts = replace(TIERS_AND_DEFAULT, tiers=(tier,), tier_revenue_cents=revenue, home_currency=home, per_usd=per_usd)
    return choose_rate(facts).source


@given(
    currencies=st.tuples(st.sampled_from(list(PER_USD)), st.sampled_from(list(PER_USD))),
    min_revenue_cents=st.integers(min_value=0, max_value=10**12),
    difference=st.fractions(min_value=-2, max_value=2),
)
def test_threshold_in_another_currency_is_compared_exactly(
    currencies: tuple[str, str], min_revenue_cents: int, difference: Fraction
) -> None:
    home, currency = currencies
    places = {"USD": 2, "EUR": 2, "JPY": 0, "KWD": 3}
    in_dollars = Fraction(min_revenue_cents) / 10 ** places[currency] / Fraction(PER_USD[currency])
    threshold = in_dollars * Fraction(PER_USD[home]) * 10 ** places[home]

    assert _source_in(home, currency, min_revenue_cents, threshold, PER_USD) == "tier"
    assert _source_in(home, currency, min_revenue_cents, threshold + difference, PER_USD) == (
        "program" if difference < 0 else "tier"
    )


@pytest.mark.parametrize(("revenue_cents", "source"), [(1, "program"), (2, "tier")])
def test_threshold_between_two_minor_units_is_reached_at_the_upper_one(revenue_cents: int, source: str) -> None:
    # 100 yen at 8000 per dollar are 1.25 cents, which would round to 1.
    assert _source_in("USD", "JPY", 100, Fraction(revenue_cents), {"JPY": Decimal(8000)}) == source


@pytest.mark.parametrize(
    ("home", "per_usd"), [("USD", {}), ("EUR", {"JPY": Decimal(150)}), ("EUR", {"EUR": Decimal("0.9")})]
)
def test_tier_without_an_exchange_rate_is_never_reached(home: str, per_usd: dict[str, Decimal]) -> None:
    assert _source_in(home, "JPY", 0, Fraction(10**12), per_usd) == "program"


def test_tier_without_an_exchange_rate_does_not_block_other_tiers() -> None:
    unconvertible = replace(GOLD, currency="JPY", min_revenue_cents=1)

    rate = choose_rate(replace(TIERS_AND_DEFAULT, tiers=(SILVER, unconvertible)))

    assert rate == CommissionRate(type=CommissionType.Percentage, value=Decimal(25), source="tier")


def test_tiers_in_different_currencies_are_ordered_by_value() -> None:
    yen = replace(SILVER, currency="JPY", min_revenue_cents=120_000)  # 800 dollars, less than 1000

    rate = choose_rate(replace(TIERS_AND_DEFAULT, tiers=(SILVER, replace(yen, value=Decimal(5))), per_usd=PER_USD))

    assert rate.value == 25


def test_level_with_a_value_but_no_type_is_skipped() -> None:
    rate = choose_rate(replace(EVERY_LEVEL, custom_type=None))

    assert rate.source == "group"


@pytest.mark.parametrize(
    ("rate", "amount_cents", "currency", "commission_cents"),
    [
        (percentage_rate("20"), 4900, "USD", 980),
        (percentage_rate("12.5"), 4, "USD", 0),
        (percentage_rate("12.5"), 12, "USD", 2),
        (percentage_rate("10"), 25, "JPY", 2),
        (percentage_rate("10"), 35, "KWD", 4),
        (percentage_rate("0"), 4900, "USD", 0),
        (percentage_rate("100"), 1_000_000_000_000, "VND", 1_000_000_000_000),
        (fixed_rate("5"), 4900, "USD", 500),
        (fixed_rate("5"), 4900, "JPY", 5),
        (fixed_rate("5"), 4900, "BHD", 5000),
        (fixed_rate("0.005"), 4900, "USD", 0),
        (fixed_rate("0.015"), 4900, "USD", 2),
        (fixed_rate("0"), 4900, "USD", 0),
    ],
)
def test_commission_is_computed_in_the_currency_of_the_sale(
    rate: CommissionRate, amount_cents: int, currency: str, commission_cents: int
) -> None:
    assert price(rate=rate, amount_cents=amount_cents, currency=currency) == commission_cents


def test_fixed_commission_may_exceed_the_sale() -> None:
    assert price(rate=fixed_rate("50"), amount_cents=100, currency="EUR") == 5000


def test_fixed_commission_in_an_unsupported_currency_is_refused() -> None:
    with pytest.raises(ValueError, match="unsupported currency"):
        price(rate=fixed_rate("1"), amount_cents=100, currency="IQD")


@given(
    amount_cents=st.integers(min_value=0, max_value=1_000_000_000_000),
    percent=st.decimals(min_value=0, max_value=100, places=6),
)
def test_percentage_commission_is_the_decimal_product_rounded_half_even(amount_cents: int, percent: Decimal) -> None:
    wide = Context(prec=60)

    commission_cents = price(rate=percentage_rate(str(percent)), amount_cents=amount_cents, currency="USD")

    exact = wide.multiply(Decimal(amount_cents), wide.multiply(percent, Decimal("0.01")))
    assert commission_cents == int(exact.quantize(Decimal(1), rounding=ROUND_HALF_EVEN, context=wide))
    assert 0 <= commission_cents <= amount_cents


def test_coupon_rate_ranks_between_affiliate_and_group_rate():
    coupon_rate = CommissionRate(type=CommissionType.Percentage, value=Decimal(0), source="coupon")

    assert choose_rate(replace(NO_OVERRIDE, coupon=coupon_rate)) == coupon_rate
    assert choose_rate(replace(EVERY_LEVEL, coupon=coupon_rate)).source == "affiliate"
