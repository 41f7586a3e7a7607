"""Conversion of amounts between currencies at stored reference rates.

Source: core spec, "Payout", line item, and "Preview response fields" (native major units per 1 USD; USD is 1). Which
rates are recent enough is decided where they are loaded and read.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from domain.money import currencies, money

_USD_RATE = Decimal(1)


def to_currency(
    *, amount_cents: int, from_currency: str, to_currency: str, per_usd: Mapping[str, Decimal]
) -> int | None:
    """Return the amount in minor units of the other currency, or None if a necessary rate is missing.

    `per_usd` maps a currency to its major units per 1 USD, positive; USD is 1 whether listed or not. The same
    currency on both sides is the amount itself and needs no rate. Exact until the one rounding, half to even, in the
    target's own minor units.
    Raises ValueError for a rate that is not positive or an unsupported currency.
    Source: core spec, "Preview response fields", fxRunRates.
    """
    exact = convert_exactly(
        amount_cents=amount_cents, from_currency=from_currency, to_currency=to_currency, per_usd=per_usd
    )
    return None if exact is None else money.divide_half_even(exact.numerator, exact.denominator)


def convert_exactly(
    *, amount_cents: int, from_currency: str, to_currency: str, per_usd: Mapping[str, Decimal]
) -> Fraction | None:
    """Return the unrounded minor units of the other currency, for comparisons; None without a rate."""
    if from_currency == to_currency:
        return Fraction(amount_cents)
    from_rate = _rate(from_currency, per_usd)
    to_rate = _rate(to_currency, per_usd)
    if from_rate is None or to_rate is None:
        return None
    from_major = Fraction(amount_cents, 10 ** currencies.exponent(from_currency))
    return from_major / from_rate * to_rate * 10 ** currencies.exponent(to_currency)


def _rate(currency: str, per_usd: Mapping[str, Decimal]) -> Fraction | None:
    rate = _USD_RATE if currency == "USD" else per_usd.get(currency)
    if rate is None:
        return None
    if rate <= 0:
        raise ValueError(f"the rate of {currency} must be positive")
    return Fraction(rate)
