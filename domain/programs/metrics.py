"""Metrics of a range of days: their groups, and how summed parts become rows.

A sale counts on the day on which it occurred, and so do its later refunds: the numbers of a day may still decrease.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from domain.programs.days import DayRange
from domain.programs.numbers import Money, SumPart, total

#: Two years; one row per day is the largest result by time.
MAX_DAYS = 731
#: Rows of affiliates, those with the most revenue first.
MAX_ROWS = 1000
#: Days and entries of a leaderboard.
MAX_BOARD_DAYS = 366
MAX_ENTRIES = 100


class MetricsGroup(StrEnum):
    """The grouping of metrics, one row per value."""

    day = "day"
    week = "week"
    month = "month"
    program = "program"
    affiliate = "affiliate"
    country = "country"


class BoardMetric(StrEnum):
    """The ranking of a leaderboard; revenue is net of refunds."""

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
    """A sum: its valued part in home-currency minor units, and the part without a rate in native minor units.

    None: there is no such part.
    """

    home_cents: int | None
    held_cents: int | None


@dataclass(frozen=True, slots=True)
class MetricsPart:
    """The sums of one key and currency; `currency` None: visits, which contain no money.

    `is_total`: the sums of all keys. `name` is that of a program or an affiliate.
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
    """The metrics of one key. `refunds` is the number of sales with refunds.

    `revenue` is that of all sales that were not denied, `refunded` the part refunded since. `commission` is all that is
    still earned, including the shares of recruiters, which are `override`.
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
    """The rows of a range, and their totals."""

    rows: Sequence[MetricsRow]
    totals: MetricsRow


def build_metrics(parts: Iterable[MetricsPart], days: DayRange, group: MetricsGroup) -> Metrics:
    """Return the rows: by time all of the range in order, else those with any numbers, most revenue first."""
    sums: list[MetricsPart] = []
    by_key: dict[str | None, list[MetricsPart]] = {}
    for part in parts:
        if part.is_total:
            sums.append(part)
        else:
            by_key.setdefault(part.key, []).append(part)
    time_keys = _list_time_keys(days, group)
    if time_keys is None:
        rows = sorted((_to_row(key, key_parts) for key, key_parts in by_key.items()), key=_rank)
    else:
        rows = [_to_row(key, by_key.get(key, ())) for key in time_keys]
    return Metrics(rows, _to_row(None, sums))


def _rank(row: MetricsRow) -> tuple[int, int, int, str]:
    return -row.revenue.home_cents, -row.commission.home_cents, -row.clicks, row.key or ""


def _to_row(key: str | None, parts: Sequence[MetricsPart]) -> MetricsRow:
    return MetricsRow(
        key=key,
        name=parts[0].name if parts else None,
        clicks=sum(part.clicks for part in parts),
        leads=sum(part.leads for part in parts),
        sales=sum(part.sales for part in parts),
        refunds=sum(part.refunds for part in parts),
        **{name: _sum_money(parts, name) for name in ("revenue", "refunded", "commission", "override")},
    )


def _sum_money(parts: Iterable[MetricsPart], name: str) -> Money:
    sums: Iterable[tuple[str, ValuedSum]] = (
        (part.currency, getattr(part, name)) for part in parts if part.currency is not None
    )
    return total(SumPart(currency, valued.home_cents, valued.held_cents) for currency, valued in sums)


def _list_time_keys(days: DayRange, group: MetricsGroup) -> Iterable[str] | None:
    """Return the keys of the time buckets, their first days; weeks start on Monday. None: not grouped by time."""
    first_of = {MetricsGroup.day: _itself, MetricsGroup.week: _monday, MetricsGroup.month: _first_of_month}.get(group)
    return None if first_of is None else dict.fromkeys(first_of(day).isoformat() for day in days.list_days())


def _itself(day: date) -> date:
    return day


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _first_of_month(day: date) -> date:
    return day.replace(day=1)


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """An entry of a leaderboard; equal entries have the same rank. `value` is a count, or home-currency minor units.

    `held` is the part without a rate, in native minor units by currency; None: nothing.
    """

    rank: int
    affiliate_id: str
    full_name: str
    program_id: str
    value: int
    held: Mapping[str, int] | None
