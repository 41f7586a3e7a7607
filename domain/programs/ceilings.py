"""Holds amounts in an organization's home currency to limits that the spec states in USD.

Source: core spec, "Program fields accepted on create or update": the equivalent at the stored reference rate, refused
and never clamped; the refusal names the home currency.
"""

from dataclasses import dataclass
from decimal import Decimal

from domain.money import currencies, fx
from domain.refused import Refused

# Without a rate an amount is taken as it is, unless no currency there is could make it fit: the weakest ones stand
# near 100,000 per USD. It also keeps amounts inside the columns that they are stored in.
_WEAKER_THAN_ANY = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Home:
    """An organization's home currency and its newest stored rate (major units per 1 USD; None when there is none)."""

    currency: str
    per_usd: Decimal | None


def most_cents(home: Home, *, usd_cents: int) -> int:
    """Return the largest amount, in minor units of the home currency, that a ceiling in USD cents allows."""
    return _converted(home, usd_cents, home.per_usd or _WEAKER_THAN_ANY)


def least_cents(home: Home, *, usd_cents: int) -> int:
    """Return the smallest amount that a floor in USD cents allows: one minor unit when there is no rate."""
    if home.currency != "USD" and home.per_usd is None:
        return 1
    return max(_converted(home, usd_cents, home.per_usd or Decimal(1)), 1)


def check_cents(home: Home, cents: int, *, least_usd: int, most_usd: int, code: str, field: str) -> None:
    """Refuse an amount outside a band of USD cents with `code`. A floor of 0 is 0 in every currency."""
    least = least_cents(home, usd_cents=least_usd) if least_usd else 0
    most = most_cents(home, usd_cents=most_usd)
    if not least <= cents <= most:
        raise _refused(code, f"{field} must be from {least} to {most} minor units of {home.currency}.", field, home)


def check_major(home: Home, value: Decimal, *, most_usd: int, code: str, field: str) -> None:
    """Refuse a value in major units that is negative or above a ceiling of USD cents with `code`."""
    most = Decimal(most_cents(home, usd_cents=most_usd)).scaleb(-currencies.exponent(home.currency))
    if not 0 <= value <= most:
        raise _refused(code, f"{field} must be from 0 to {most.normalize():f} {home.currency}.", field, home)


def _converted(home: Home, usd_cents: int, per_usd: Decimal) -> int:
    converted = fx.to_currency(
        amount_cents=usd_cents, from_currency="USD", to_currency=home.currency, per_usd={home.currency: per_usd}
    )
    assert converted is not None  # both rates are there
    return converted


def _refused(code: str, message: str, field: str, home: Home) -> Refused:
    return Refused(400, code, message, field=field, homeCurrency=home.currency)
