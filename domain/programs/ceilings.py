"""Limits in USD for amounts in an organization's home currency.

Source: core spec, "Program fields accepted on create or update": the equivalent at the stored reference rate; an amount
beyond it is refused, never clamped, and the refusal names the home currency.
"""

from dataclasses import dataclass
from decimal import Decimal

from domain.money import currencies, fx
from domain.refusals import Refused

# Without a rate an amount is accepted unless it exceeds the limit in every existing currency: the weakest are near
# 100,000 per USD. This also keeps amounts within the range of their columns.
_WEAKEST_RATE = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Home:
    """An organization's home currency and its newest stored rate (major units per 1 USD; None without one)."""

    currency: str
    per_usd: Decimal | None


def max_cents(home: Home, *, usd_cents: int) -> int:
    """Return the largest amount, in minor units of the home currency, that a ceiling in USD cents allows."""
    return _convert_usd(home, usd_cents, home.per_usd or _WEAKEST_RATE)


def min_cents(home: Home, *, usd_cents: int) -> int:
    """Return the smallest amount that a floor in USD cents allows: one minor unit without a rate."""
    if home.currency != "USD" and home.per_usd is None:
        return 1
    return max(_convert_usd(home, usd_cents, home.per_usd or Decimal(1)), 1)


def check_cents(home: Home, cents: int, *, min_usd: int, max_usd: int, code: str, field: str) -> None:
    """Refuse an amount outside a range of USD cents with `code`. A floor of 0 is 0 in every currency."""
    low = min_cents(home, usd_cents=min_usd) if min_usd else 0
    high = max_cents(home, usd_cents=max_usd)
    if not low <= cents <= high:
        raise _refusal(code, f"{field} must be from {low} to {high} minor units of {home.currency}.", field, home)


def check_major(home: Home, value: Decimal, *, max_usd: int, code: str, field: str) -> None:
    """Refuse a value in major units that is negative or above a ceiling of USD cents with `code`."""
    high = Decimal(max_cents(home, usd_cents=max_usd)).scaleb(-currencies.exponent(home.currency))
    if not 0 <= value <= high:
        raise _refusal(code, f"{field} must be from 0 to {high.normalize():f} {home.currency}.", field, home)


def _convert_usd(home: Home, usd_cents: int, per_usd: Decimal) -> int:
    converted = fx.to_currency(
        amount_cents=usd_cents, from_currency="USD", to_currency=home.currency, per_usd={home.currency: per_usd}
    )
    assert converted is not None  # both rates are given
    return converted


def _refusal(code: str, message: str, field: str, home: Home) -> Refused:
    return Refused(400, code, message, field=field, homeCurrency=home.currency)
