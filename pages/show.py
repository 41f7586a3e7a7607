"""How values look: money by our own exponents, numbers, moments and days. Every page shows them through these filters.

What is not there is a dash, and a negative amount has a minus sign, not a hyphen.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from domain.money import currencies

#: What stands where there is nothing to show.
NOTHING = "–"
_MINUS = "\u2212"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def money(minor: int | None, currency: str | None) -> str:
    """Return minor units as `1,234.50 USD`: as many decimals as the currency has. Exact; raises ValueError for a
    currency that is none of ours.
    """
    if minor is None or currency is None:
        return NOTHING
    decimals = currencies.exponent(currency)
    whole, rest = divmod(abs(minor), 10**decimals)
    fraction = f".{rest:0{decimals}}" if decimals else ""
    return f"{_MINUS if minor < 0 else ''}{whole:,}{fraction} {currency}"


def number(value: int | None) -> str:
    """Return a count with its thousands apart."""
    if value is None:
        return NOTHING
    return f"{_MINUS if value < 0 else ''}{abs(value):,}"


def moment(value: datetime | str | None) -> str:
    """Return an instant as a `time` element that a person can read, its zone named."""
    if value is None:
        return NOTHING
    at = (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)
    machine = at.isoformat(timespec="seconds").replace("+00:00", "Z")
    return Markup('<time datetime="{}">{}, {:%H:%M} UTC</time>').format(machine, _in_words(at), at)


def day(value: date | str | None) -> str:
    """Return a day, or the day in UTC of an instant, as a `time` element."""
    if value is None:
        return NOTHING
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    if isinstance(found, datetime) and found.tzinfo is not None:
        found = found.astimezone(UTC)
    return Markup('<time datetime="{:%Y-%m-%d}">{}</time>').format(found, _in_words(found))


def _in_words(at: date) -> str:
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


#: What templates know these by.
FILTERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"money": money, "number": number, "moment": moment, "day": day}
)
