"""Figures of a range of days on screens of a brand, next to the period before: headlines, charts, top affiliates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from api.programs.metrics import get_leaderboard, summarize_performance
from domain.money import currencies, wording
from domain.programs.days import DayRange
from domain.programs.metrics import MetricsGroup
from pages import api_client, charts, template_filters
from pages.charts import Chart, ChartPoint
from pages.times import day_words
from pages.times.date_ranges import DateRange

#: Operations of `read_performance`, and of `read_affiliate_performance`.
USES = (summarize_performance, get_leaderboard)
AFFILIATE_USES = (summarize_performance,)

_MAX_PLACES = 5
_WHOLE_PERCENT, _TENTH = Decimal(1), Decimal("0.1")
_TEN = 10
#: Amounts of a period, with the words for what of them has no exchange rate.
_UNCONVERTED = (("netRevenue", "revenue"), ("refunded", "refunds"), ("commission", "commission"))
_CHARTS = ("Revenue", "Sales", "Clicks", "Leads", "Commission")
_EPC_TITLE = "Earnings per click: the commission divided by the number of clicks"


@dataclass(frozen=True, slots=True)
class Headline:
    """A figure of the period with its change between the compared days: from `before` to `compared`.

    `compared` is empty if it is the figure itself. `change` is in percent, None if the period before has none. `tone`
    is `good`, `bad`, or empty for neither.
    """

    label: str
    value: str
    compared: str
    before: str
    change: Decimal | None
    tone: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """The figures of a day, week or month in words."""

    label: str
    cells: Sequence[str]


@dataclass(frozen=True, slots=True)
class Performance:
    """The figures of a range; `unconverted` are amounts without an exchange rate with their words.

    `compared` are the complete days of the range and those that they are compared with; None if it has none.
    `last_sale_on` is known if the rows are days.
    """

    currency: str
    days: str
    days_before: str
    compared: tuple[str, str] | None
    headlines: Sequence[Headline]
    unconverted: Sequence[tuple[str, Mapping[str, int]]]
    charts: Sequence[Chart]
    columns: Sequence[str]
    rows: Sequence[TableRow]
    last_sale_on: str | None
    best: Sequence[Mapping[str, Any]]

    @property
    def has_anything(self) -> bool:
        """Whether there is anything in the period or the one before."""
        return bool(self.charts or self.unconverted)


def read_performance(chosen: DateRange, program_id: str | None = None) -> Performance:
    """Return the figures of one program, or of all programs, in the home currency."""
    scope = {} if program_id is None else {"programId": program_id}
    best = api_client.require(
        get_leaderboard, query={"metric": "commission", "limit": _MAX_PLACES, **_days_query(chosen), **scope}
    )
    return _read_performance(chosen, scope, best)


def read_affiliate_performance(chosen: DateRange, affiliate_id: str) -> Performance:
    """Return the figures of one affiliate in the home currency."""
    return _read_performance(chosen, {"affiliateId": affiliate_id}, ())


def _days_query(chosen: DateRange) -> dict[str, str]:
    return {"from": chosen.days.first.isoformat(), "to": chosen.days.last.isoformat()}


def _read_performance(chosen: DateRange, scope: Mapping[str, str], best: Sequence[Mapping[str, Any]]) -> Performance:
    query = {"compare": str(chosen.comparison), "groupBy": str(chosen.group), **_days_query(chosen), **scope}
    summary = api_client.require(summarize_performance, query=query)
    totals, currency = summary["current"]["totals"], summary["currency"]
    columns = _list_columns(currency)
    unconverted = [(words, totals[f"{name}UnconvertibleByCurrency"] or {}) for name, words in _UNCONVERTED]
    return Performance(
        currency=currency,
        days=day_words.describe_range(chosen.days),
        days_before=day_words.describe_range(_range_of(summary["previous"])),
        compared=_describe_compared(summary["compared"]),
        headlines=[column.to_headline(summary) for column in columns],
        unconverted=[(words, amounts) for words, amounts in unconverted if amounts],
        charts=_create_charts(summary, columns, chosen),
        columns=[column.label for column in columns],
        rows=[
            TableRow(_describe_row(row, summary["current"], chosen), [column.format(row) for column in columns])
            for row in summary["current"]["rows"]
        ],
        last_sale_on=_find_last_sale(summary),
        best=best,
    )


def _find_last_sale(summary: Mapping[str, Any]) -> str | None:
    if summary["groupBy"] != MetricsGroup.day:
        return None
    return max((row["key"] for row in summary["current"]["rows"] if row["sales"]), default=None)


def _describe_compared(compared: Mapping[str, Any]) -> tuple[str, str] | None:
    if compared["current"]["from"] is None:
        return None
    current, previous = (day_words.describe_range(_range_of(compared[name])) for name in ("current", "previous"))
    return current, previous


@dataclass(frozen=True, slots=True)
class _Column:
    """A figure: its field in the API's record and in the changes, and how it is shown.

    `better` is 1 if more is better, -1 if less is, 0 if neither is.
    """

    label: str
    name: str
    change: str
    kind: str
    currency: str
    better: int = 1
    title: str = ""

    def format(self, numbers: Mapping[str, Any]) -> str:
        value = numbers[self.name]
        if self.kind == "count":
            return template_filters.format_number(value)
        if self.kind == "percent":
            return wording.format_percent(value)
        if self.kind == "rate":
            return _format_rate(value, self.currency)
        return wording.format_money(value, self.currency)

    def to_headline(self, summary: Mapping[str, Any]) -> Headline:
        percent = summary["change"][self.change]
        change = None if percent is None else _round_percent(Decimal(str(percent)))
        direction = 0 if not change else (1 if change > 0 else -1) * self.better
        value = self.format(summary["current"]["totals"])
        compared, before = (self.format(summary["compared"][name]["totals"]) for name in ("current", "previous"))
        return Headline(
            label=self.label,
            value=value,
            compared="" if compared == value else compared,
            before=before,
            change=change,
            tone={1: "good", -1: "bad"}.get(direction, ""),
            title=self.title,
        )


def _list_columns(currency: str) -> Sequence[_Column]:
    return (
        _Column("Clicks", "clicks", "clicks", "count", currency),
        _Column("Leads", "leads", "leads", "count", currency),
        _Column("Sales", "sales", "sales", "count", currency),
        _Column("Conversion rate", "conversionRatePercent", "conversionRate", "percent", currency),
        _Column("Revenue", "netRevenueCents", "netRevenue", "money", currency),
        _Column("Commission", "commissionCents", "commission", "money", currency, better=0),
        _Column("Refunds", "refundedCents", "refunded", "money", currency, better=-1),
        _Column("EPC", "epcCents", "epc", "rate", currency, title=_EPC_TITLE),
    )


def _round_percent(percent: Decimal) -> Decimal:
    """Return a change as it is shown: whole percents, below ten with a decimal."""
    return percent.quantize(_TENTH if abs(percent) < _TEN else _WHOLE_PERCENT, ROUND_HALF_EVEN)


def _format_rate(minor: float | None, currency: str) -> str:
    """Return an amount for each click; an amount below one with two decimals more than its currency has."""
    if minor is None:
        return wording.DASH
    decimals = currencies.exponent(currency)
    major = Decimal(str(minor)).scaleb(-decimals)
    places = decimals if abs(major) >= 1 else decimals + 2
    return wording.format_major(major.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN), currency)


def _create_charts(summary: Mapping[str, Any], columns: Sequence[_Column], chosen: DateRange) -> Sequence[Chart]:
    """Return a chart of each figure that has any value in the period or the one before."""
    current, previous = summary["current"], summary["previous"]
    drawn = []
    by_label = {column.label: column for column in columns}
    for column in map(by_label.__getitem__, _CHARTS):
        before = [_create_point(column, row, previous, chosen) for row in previous["rows"]]
        points = [
            _create_point(column, row, current, chosen, before[at] if at < len(before) else None)
            for at, row in enumerate(current["rows"])
        ]
        currency = column.currency if column.kind == "money" else None
        total = column.format(current["totals"])
        drawn.append(charts.create_chart(column.label, points, currency=currency, total=total))
    return [chart for chart in drawn if chart.has_anything]


def _create_point(
    column: _Column,
    row: Mapping[str, Any],
    period: Mapping[str, Any],
    chosen: DateRange,
    before: ChartPoint | None = None,
) -> ChartPoint:
    days = _days_of_row(row, period, chosen)
    shorten = day_words.short_month if chosen.group == MetricsGroup.month else day_words.short_day
    return ChartPoint(
        label=day_words.describe_range(days),
        value=row[column.name],
        shown=column.format(row),
        short=shorten(days.first),
        before=before,
        is_running=days.last == chosen.today,
    )


def _describe_row(row: Mapping[str, Any], period: Mapping[str, Any], chosen: DateRange) -> str:
    return day_words.describe_range(_days_of_row(row, period, chosen))


def _days_of_row(row: Mapping[str, Any], period: Mapping[str, Any], chosen: DateRange) -> DayRange:
    """Return the days of a period that a row sums up; weeks and months may begin before it and end after it."""
    key = date.fromisoformat(row["key"])
    last = {
        MetricsGroup.week: key + timedelta(days=6),
        MetricsGroup.month: (key.replace(day=1) + timedelta(days=31)).replace(day=1) - timedelta(days=1),
    }.get(chosen.group, key)
    days = _range_of(period)
    return DayRange(max(key, days.first), min(last, days.last))


def _range_of(period: Mapping[str, Any]) -> DayRange:
    return DayRange(date.fromisoformat(period["from"]), date.fromisoformat(period["to"]))
