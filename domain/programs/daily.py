"""The numbers of days and of channel tags, put together from what each kind of row says of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta


@dataclass(frozen=True, slots=True)
class NumbersPart:
    """A part of the numbers of one day or channel tag: `key`. `currency` None: nothing of it is money.

    `commission_cents` is what its conversions still earn, overrides with them, which are not counted as sales.
    """

    key: str | None
    currency: str | None
    clicks: int
    leads: int
    sales: int
    commission_cents: int


@dataclass(slots=True)
class KeyedNumbers:
    """The numbers of a day (`2026-11-22`) or of a channel tag (None: without one); money is minor units by currency."""

    key: str | None
    clicks: int = 0
    leads: int = 0
    sales: int = 0
    commission_cents: dict[str, int] = field(default_factory=dict)


def by_day(parts: Iterable[NumbersPart], *, first: date, last: date) -> list[KeyedNumbers]:
    """Return every day from `first` to `last`, those with nothing too."""
    days = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    found = _summed(parts)
    return [found.get(day) or KeyedNumbers(day) for day in days]


def by_channel(parts: Iterable[NumbersPart], *, most: int) -> list[KeyedNumbers]:
    """Return up to `most` channel tags, those with the most sales, leads and clicks first."""
    found = _summed(parts).values()
    return sorted(found, key=lambda one: (-one.sales, -one.leads, -one.clicks, one.key or ""))[:most]


def _summed(parts: Iterable[NumbersPart]) -> Mapping[str | None, KeyedNumbers]:
    found: dict[str | None, KeyedNumbers] = {}
    for part in parts:
        one = found.setdefault(part.key, KeyedNumbers(part.key))
        one.clicks += part.clicks
        one.leads += part.leads
        one.sales += part.sales
        if part.currency is not None:
            one.commission_cents[part.currency] = one.commission_cents.get(part.currency, 0) + part.commission_cents
    return found
