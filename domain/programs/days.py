"""Requested ranges of days in UTC, including the first and the last."""

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import NamedTuple

DEFAULT_DAYS = 30
MAX_DAYS = 366

_DAY = timedelta(days=1)
_MONTHS_OF_YEAR = 12


class DayRange(NamedTuple):
    """Consecutive days; `last` is included."""

    first: date
    last: date

    @property
    def start(self) -> datetime:
        """The start of the first day."""
        return datetime.combine(self.first, time(), UTC)

    @property
    def end(self) -> datetime:
        """The end of the last day, exclusive."""
        return datetime.combine(self.last, time(), UTC) + _DAY

    def list_days(self) -> Iterator[date]:
        """Yield the days in order."""
        return (self.first + _DAY * offset for offset in range(self.length))

    @property
    def length(self) -> int:
        """The number of days."""
        return (self.last - self.first).days + 1


class PeriodPair(NamedTuple):
    """A range, the range before it, and the days of both that are compared; None if the range has no complete day."""

    days: DayRange
    before: DayRange
    compared: tuple[DayRange, DayRange] | None


class PeriodComparison(StrEnum):
    """The days that a range is compared with: as many directly before it, or the same a month or a year before."""

    period = "period"
    month = "month"
    year = "year"


_MONTHS = {PeriodComparison.month: 1, PeriodComparison.year: _MONTHS_OF_YEAR}


def range_before(days: DayRange, comparison: PeriodComparison) -> DayRange | None:
    """Return the range to compare with. None: it begins before the calendar.

    A month that ends with its last day is compared with the whole month before. A day that the month or year before
    does not have becomes the last day of that month.
    """
    try:
        if comparison is PeriodComparison.period:
            return DayRange(days.first - _DAY * days.length, days.first - _DAY)
        months = _MONTHS[comparison]
        return DayRange(_shift(days.first, months), _shift(days.last, months, is_last=True))
    except (OverflowError, ValueError):
        return None


def pair_periods(days: DayRange, comparison: PeriodComparison, *, today: date) -> PeriodPair | None:
    """Return a range with the one before it. None: that one begins before the calendar.

    Today and later days are not complete, so as many days of both ranges are compared as are complete in the first.
    """
    before = range_before(days, comparison)
    return None if before is None else PeriodPair(days, before, _pair_complete_days(days, before, comparison, today))


def _pair_complete_days(
    days: DayRange, before: DayRange, comparison: PeriodComparison, today: date
) -> tuple[DayRange, DayRange] | None:
    if days.last < today:
        return days, before
    complete = DayRange(days.first, today - _DAY)
    if complete.length < 1:
        return None
    if comparison is PeriodComparison.period:
        return complete, DayRange(before.first, before.first + _DAY * (complete.length - 1))
    return complete, DayRange(before.first, _shift(complete.last, _MONTHS[comparison]))


def _shift(day: date, months: int, *, is_last: bool = False) -> date:
    """Return the day that many months before; the last day of a month stays one if it ends a range."""
    year, month = divmod(day.year * _MONTHS_OF_YEAR + day.month - 1 - months, _MONTHS_OF_YEAR)
    length = calendar.monthrange(year, month + 1)[1]
    ends_month = is_last and day.day == calendar.monthrange(day.year, day.month)[1]
    return date(year, month + 1, length if ends_month else min(day.day, length))


def parse_range(first: date | None, last: date | None, *, today: date, limit: int = MAX_DAYS) -> DayRange | None:
    """Return the requested range: by default thirty days up to today.

    None: the last day is before the first, or there are more than `limit` days, or dates outside the calendar.
    """
    until = last or today
    if until == date.max:
        return None
    try:
        days = DayRange(first or until - _DAY * (DEFAULT_DAYS - 1), until)
    except OverflowError:
        return None
    return days if 0 <= (days.last - days.first).days < limit else None
