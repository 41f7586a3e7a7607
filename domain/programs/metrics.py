"""Metrics of a range of days: what they are grouped by, and how the parts that were summed become rows.

A sale counts on the day on which it occurred, and so does what it gave back later: the numbers of a day may still fall.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from domain.programs.days import DayRange
from domain.programs.numbers import Money, Part, total

#: Two years; a day each is as many rows as there are of time.
MOST_DAYS = 731
#: Rows of affiliates, those with the most revenue first.
MOST_ROWS = 1000
#: Days and entries of a leaderboard.
MOST_BOARD_DAYS = 366
MOST_ENTRIES = 100


class MetricsGroup(StrEnum):
    """What a row of metrics is of."""

    day = "day"
    week = "week"
    month = "month"
    program = "program"
    affiliate = "affiliate"
    country = "country"


class BoardMetric(StrEnum):
    """What a leaderboard ranks by; revenue is less what was refunded."""

    clicks = "clicks"
    leads = "leads"
    sales = "sales"
    revenue = "revenue"
    commission = "commission"

    @property
    def is_money(self) -> bool:
        """Whether its values are minor units of the home currency."""
        return self in (BoardMetric.revenue, BoardMetric.commission)


@dataclass(frozen=True, slots=True)
class ValuedSum:
    """A sum: what could be valued in home-currency minor units, and native minor units of what could not.

    None: nothing of it.
    """

    home_cents: int | None
    held_cents: int | None


@dataclass(frozen=True, slots=True)
class MetricsPart:
    """What rows of one key and currency come to; `currency` None: visits, of which nothing is money.

    `is_total`: of all keys together. `name` is that of a program or an affiliate.
    """

    is_total: bool
    key: str | None
    name: str | None
    currency: str | None
    clicks: int
    leads: int
    sales: int
    refunds: int
    revenue: ValuedSum
    refunded: ValuedSum
    commission: ValuedSum
    override: ValuedSum


@dataclass(frozen=True, slots=True)
class MetricsRow:
    """The metrics of one key. `refunds` are sales that gave something back.

    `revenue` is what was sold and not denied, `refunded` what of it was given back since. `commission` is what is still
    earned of everything, shares of recruiters with it, which are `override`.
    """

    key: str | None
    name: str | None
    clicks: int
    leads: int
    sales: int
    refunds: int
    revenue: Money
    refunded: Money
    commission: Money
    override: Money


@dataclass(frozen=True, slots=True)
class Metrics:
    """Rows of a range, and what all of it comes to."""

    rows: Sequence[MetricsRow]
    totals: MetricsRow


def gathered(parts: Iterable[MetricsPart], days: DayRange, group: MetricsGroup) -> Metrics:
    """Return the rows: of time every one of the range in order, of others those with anything, most revenue first."""
    sums: list[MetricsPart] = []
    by_key: dict[str | None, list[MetricsPart]] = {}
    for part in parts:
        if part.is_total:
            sums.append(part)
        else:
            by_key.setdefault(part.key, []).append(part)
    beginnings = _beginnings(days, group)
    if beginnings is None:
        rows = sorted((_row(key, found) for key, found in by_key.items()), key=_most_first)
    else:
        rows = [_row(key, by_key.get(key, ())) for key in beginnings]
    return Metrics(rows, _row(None, sums))


def _most_first(row: MetricsRow) -> tuple[int, int, int, str]:
    return -row.revenue.home_cents, -row.commission.home_cents, -row.clicks, row.key or ""


def _row(key: str | None, parts: Sequence[MetricsPart]) -> MetricsRow:
    return MetricsRow(
        key=key,
        name=parts[0].name if parts else None,
        clicks=sum(part.clicks for part in parts),
        leads=sum(part.leads for part in parts),
        sales=sum(part.sales for part in parts),
        refunds=sum(part.refunds for part in parts),
        **{name: _money(parts, name) for name in ("revenue", "refunded", "commission", "override")},
    )


def _money(parts: Iterable[MetricsPart], name: str) -> Money:
    sums: Iterable[tuple[str, ValuedSum]] = (
        (part.currency, getattr(part, name)) for part in parts if part.currency is not None
    )
    return total(Part(currency, found.home_cents, found.held_cents) for currency, found in sums)


def _beginnings(days: DayRange, group: MetricsGroup) -> Iterable[str] | None:
    """Return the first day of each bucket of time, which is its key; weeks begin on Monday. None: not by time."""
    first_of = {MetricsGroup.day: _same, MetricsGroup.week: _monday, MetricsGroup.month: _first_of_month}.get(group)
    return None if first_of is None else dict.fromkeys(first_of(day).isoformat() for day in days.each())


def _same(day: date) -> date:
    return day


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _first_of_month(day: date) -> date:
    return day.replace(day=1)


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A place on a leaderboard; who is equal has the same rank. `value` is a count, or home-currency minor units.

    `held` is what had no rate, in native minor units by currency; None: nothing.
    """

    rank: int
    affiliate_id: str
    full_name: str
    program_id: str
    value: int
    held: Mapping[str, int] | None
