"""The range of days that a page shows, chosen in its address: `range=30d`, or `range=own` with `from` and `to`.

The figures of the service are stored by day in UTC, so the days of a range are days in UTC, whatever the page's zone.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType

from flask import request

from api import current_time
from domain.programs.days import DayRange, PeriodComparison, range_before
from domain.programs.metrics import MAX_DAYS, MetricsGroup
from pages.forms import FormState

OWN = "own"
DEFAULT = "30d"
#: The names of the ranges in an address, with their labels.
LABELS: Mapping[str, str] = MappingProxyType(
    {
        "7d": "7 days",
        "30d": "30 days",
        "90d": "90 days",
        "month": "This month",
        "last-month": "Last month",
        "year": "This year",
        OWN: "Custom",
    }
)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ONE_DAY = timedelta(days=1)
# Ranges with more days are shown by week, and by month.
_MAX_DAILY, _MAX_WEEKLY = 92, 184
_BAD_REQUEST = 400
_INCOMPLETE = "Choose a start and an end date."


@dataclass(frozen=True, slots=True)
class DateRange:
    """The chosen days, what they are compared with, and whether they are shown by day, week or month.

    `form` has the values of the address, and the errors if it names no range; then the days are those of the default.
    """

    name: str
    days: DayRange
    comparison: PeriodComparison
    today: date
    form: FormState

    @property
    def group(self) -> MetricsGroup:
        """The grouping of charts and tables."""
        if self.days.length <= _MAX_DAILY:
            return MetricsGroup.day
        return MetricsGroup.week if self.days.length <= _MAX_WEEKLY else MetricsGroup.month

    @property
    def is_running(self) -> bool:
        """Whether the last day is today."""
        return self.days.last == self.today


class _Unusable(Exception):
    """The address names no range."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


def read_range() -> DateRange:
    """Return the range that this request's address names, by default the last 30 days. Days alone are a range, too."""
    today = current_time.now().date()
    name = request.args.get("range", OWN if "from" in request.args or "to" in request.args else DEFAULT)
    values = {field: request.args.getlist(field) for field in ("range", "from", "to")}
    try:
        days, comparison = _choose(name, today)
    except _Unusable as error:
        days, comparison = _PRESETS[DEFAULT](today)
        form = FormState(values, {error.field: error.message}, "Showing the last 30 days instead.", status=_BAD_REQUEST)
        return DateRange(DEFAULT, days, comparison, today, form)
    filled = values | {"from": [days.first.isoformat()], "to": [days.last.isoformat()]}
    return DateRange(name, days, comparison, today, FormState(filled))


def _choose(name: str, today: date) -> tuple[DayRange, PeriodComparison]:
    if name == OWN:
        return _read_own_days(today), PeriodComparison.period
    if name not in _PRESETS:
        raise _Unusable("range", "This date range does not exist. Choose one of the ranges below.")
    return _PRESETS[name](today)


def _read_own_days(today: date) -> DayRange:
    first, last = _read_day("from"), _read_day("to")
    if first > last:
        raise _Unusable("from", "The start date is after the end date.")
    if first > today:
        raise _Unusable("from", "The start date is in the future.")
    days = DayRange(first, min(last, today))
    if days.length > MAX_DAYS:
        raise _Unusable("from", f"Choose at most {MAX_DAYS} days (two years).")
    if range_before(days, PeriodComparison.period) is None:
        raise _Unusable("from", "Choose a later start date.")
    return days


def _read_day(field: str) -> date:
    text = request.args.get(field, "")
    if not text:
        raise _Unusable(field, _INCOMPLETE)
    try:
        return date.fromisoformat(text if _DAY.fullmatch(text) else "")
    except ValueError:
        raise _Unusable(field, "Enter a date as YYYY-MM-DD.") from None


def _last_days(count: int) -> Callable[[date], tuple[DayRange, PeriodComparison]]:
    return lambda today: (DayRange(today - _ONE_DAY * (count - 1), today), PeriodComparison.period)


def _last_month(today: date) -> tuple[DayRange, PeriodComparison]:
    last = today.replace(day=1) - _ONE_DAY
    return DayRange(last.replace(day=1), last), PeriodComparison.month


_PRESETS: Mapping[str, Callable[[date], tuple[DayRange, PeriodComparison]]] = MappingProxyType(
    {
        "7d": _last_days(7),
        "30d": _last_days(30),
        "90d": _last_days(90),
        "month": lambda today: (DayRange(today.replace(day=1), today), PeriodComparison.month),
        "last-month": _last_month,
        "year": lambda today: (DayRange(today.replace(month=1, day=1), today), PeriodComparison.year),
    }
)
