"""Division and conversion of money on integers, rounding half to even.

Every division of money in the service ends in `divide_half_even`, the one place that rounds. Source: core spec,
section 2 "Conventions" and section 8 "Limits". `fx` exchanges currencies, `currencies` has their exponents.
"""

from decimal import Decimal

from domain.money import currencies

#: The largest amount that an ingest or import path accepts, in minor units. Source: core spec, "Limits".
MAX_AMOUNT_CENTS = 1_000_000_000_000


def divide_half_even(numerator: int, denominator: int) -> int:
    """Return numerator / denominator rounded to an integer, ties to the even neighbour.

    Exact for every size and for negative numerators: -5 / 2 is -2, -7 / 2 is -4.
    Raises ValueError when the denominator is not positive.
    Source: tracking spec, "Override conversion" (round-half-to-even).
    """
    if denominator <= 0:
        raise ValueError("the denominator must be positive")
    quotient, remainder = divmod(numerator, denominator)
    doubled = 2 * remainder
    rounds_up = doubled > denominator or (doubled == denominator and quotient % 2 == 1)
    return quotient + 1 if rounds_up else quotient


def percent_of(*, amount_cents: int, percent: Decimal) -> int:
    """Return that percent of an amount.

    Units: minor units in and out; percent is 12.5 for 12.5 %.
    Exact until the one rounding, whatever the decimal context's precision.
    Raises ValueError or OverflowError when the percent is not finite.
    Source: core spec, "Program fields accepted on create or update" (Percentage).
    """
    numerator, denominator = percent.as_integer_ratio()
    return divide_half_even(amount_cents * numerator, denominator * 100)


def major_to_minor(*, major: Decimal, currency: str) -> int:
    """Return an amount of major units in the minor units of its currency.

    5 is 500 in USD, 5 in JPY and 5000 in KWD; fractions of a minor unit round half to even.
    Raises ValueError for an unsupported currency, ValueError or OverflowError when the amount is not finite.
    Source: core spec, section 2 "Conventions" (minor units).
    """
    numerator, denominator = major.as_integer_ratio()
    return divide_half_even(numerator * 10 ** currencies.exponent(currency), denominator)
