"""Metrics of a range of days: their groups, and how summed parts become rows.

A sale counts on the day on which it occurred, and so do its later refunds: the numbers of a day may still decrease.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal
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

_RATE_STEP, _EPC_STEP, _CHANGE_STEP = Decimal("0.01"), Decimal("0.0001"), Decimal("0.1")
# Amounts have up to thirty digits.
_EXACT = Context(prec=80)


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

    @property
    def net_revenue(self) -> Money:
        """The revenue less what was refunded since."""
        home_cents = self.revenue.home_cents - self.refunded.home_cents
        gross = [SumPart(currency, None, cents) for currency, cents in (self.revenue.held or {}).items()]
        refunds = [SumPart(currency, None, -cents) for currency, cents in (self.refunded.held or {}).items()]
        return Money(home_cents, total(gross + refunds).held)

    @property
    def conversion_rate_percent(self) -> Decimal | None:
        """The sales per hundred clicks; None without clicks."""
        return _divide(100 * self.sales, self.clicks, _RATE_STEP)

    @property
    def epc_cents(self) -> Decimal | None:
        """The earnings per click: home-currency minor units of commission for each click; None without clicks."""
        return _divide(self.commission.home_cents, self.clicks, _EPC_STEP)


@dataclass(frozen=True, slots=True)
class Metrics:
    """The rows of a range, and their totals."""

    rows: Sequence[MetricsRow]
    totals: MetricsRow


@dataclass(frozen=True, slots=True)
class PeriodPart:
    """The sums of one day, week or month and currency of a period, or of the period that it is compared with.

    `is_compared`: of those days that count in the changes; the others, such as today, have a part of their own.
    """

    is_current: bool
    is_compared: bool
    part: MetricsPart


@dataclass(frozen=True, slots=True)
class PeriodMetrics:
    """The metrics of a period: its days, its totals, and a row for each day, week or month."""

    days: DayRange
    totals: MetricsRow
    rows: Sequence[MetricsRow]


def build_period(parts: Iterable[MetricsPart], days: DayRange, group: MetricsGroup) -> PeriodMetrics:
    """Return the metrics of a period grouped by time; its totals are the sums of its rows' parts."""
    sums = list(parts)
    return PeriodMetrics(days, _to_row(None, sums), build_metrics(sums, days, group).rows)


@dataclass(frozen=True, slots=True)
class ComparedDays:
    """The days of a period that count in the changes, with their totals; `first` and `last` are None if none does."""

    first: date | None
    last: date | None
    totals: MetricsRow


@dataclass(frozen=True, slots=True)
class ComparedPeriods:
    """The compared days of a period, and as many of the period before."""

    current: ComparedDays
    previous: ComparedDays

    @property
    def change(self) -> "Changes":
        """The changes of the totals."""
        return compare(self.current.totals, self.previous.totals)


def build_comparison(parts: Iterable[PeriodPart], days: tuple[DayRange, DayRange] | None) -> ComparedPeriods:
    """Return the totals of the compared days of both periods."""
    rows = [row for row in parts if row.is_compared]
    ranges = days or ((None, None), (None, None))
    current, previous = (
        ComparedDays(*day_range, _to_row(None, [row.part for row in rows if row.is_current is is_current]))
        for is_current, day_range in zip((True, False), ranges, strict=True)
    )
    return ComparedPeriods(current, previous)


@dataclass(frozen=True, slots=True)
class Changes:
    """The change of each total from one period to another, in percent; None where the earlier one is 0 or missing."""

    clicks: Decimal | None
    leads: Decimal | None
    sales: Decimal | None
    refunds: Decimal | None
    conversion_rate: Decimal | None
    net_revenue: Decimal | None
    refunded: Decimal | None
    commission: Decimal | None
    epc: Decimal | None


def compare(current: MetricsRow, previous: MetricsRow) -> Changes:
    """Return the changes of the totals of two periods."""
    return Changes(
        **{
            name: _percent_change(getattr(current, name), getattr(previous, name))
            for name in ("clicks", "leads", "sales", "refunds")
        },
        conversion_rate=_percent_change(current.conversion_rate_percent, previous.conversion_rate_percent),
        epc=_percent_change(current.epc_cents, previous.epc_cents),
        **{
            name: _percent_change(getattr(current, name).home_cents, getattr(previous, name).home_cents)
            for name in ("net_revenue", "refunded", "commission")
        },
    )


def _percent_change(current: Decimal | int | None, previous: Decimal | int | None) -> Decimal | None:
    if current is None or previous is None:
        return None
    base = Decimal(previous)
    return _divide(100 * (current - base), abs(base), _CHANGE_STEP)


def _divide(amount: Decimal | int, by: Decimal | int, step: Decimal) -> Decimal | None:
    """Return a quotient rounded half to even to a multiple of `step`; None without a divisor."""
    if not by:
        return None
    return _EXACT.divide(Decimal(amount), Decimal(by)).quantize(step, ROUND_HALF_EVEN, _EXACT)


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

    `held` is its part without a rate, in native minor units by currency; None: nothing. The others are the affiliate's
    figures in the same days; amounts are home-currency minor units, and revenue is net of refunds.
    """

    rank: int
    affiliate_id: str
    full_name: str
    program_id: str
    value: int
    held: Mapping[str, int] | None
    clicks: int
    leads: int
    sales: int
    net_revenue_cents: int
    commission_cents: int
