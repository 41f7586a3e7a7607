"""The numbers of days and of channel tags, summed over the kinds of rows that they come from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta


@dataclass(frozen=True, slots=True)
class NumbersPart:
    """A part of the numbers of one day or channel tag (`key`). `currency` None: it contains no money.

    `commission_cents` is what its conversions still earn, with overrides, which do not count as sales.
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


def sum_by_day(parts: Iterable[NumbersPart], *, first: date, last: date) -> list[KeyedNumbers]:
    """Return every day from `first` to `last`, including empty ones."""
    days = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    sums = _sum_by_key(parts)
    return [sums.get(day) or KeyedNumbers(day) for day in days]


def sum_by_channel(parts: Iterable[NumbersPart], *, limit: int) -> list[KeyedNumbers]:
    """Return up to `limit` channel tags, those with the most sales, leads and clicks first."""
    sums = _sum_by_key(parts).values()
    return sorted(sums, key=lambda tag: (-tag.sales, -tag.leads, -tag.clicks, tag.key or ""))[:limit]


def _sum_by_key(parts: Iterable[NumbersPart]) -> Mapping[str | None, KeyedNumbers]:
    sums: dict[str | None, KeyedNumbers] = {}
    for part in parts:
        total = sums.setdefault(part.key, KeyedNumbers(part.key))
        total.clicks += part.clicks
        total.leads += part.leads
        total.sales += part.sales
        if part.currency is not None:
            total.commission_cents[part.currency] = total.commission_cents.get(part.currency, 0) + part.commission_cents
    return sums
