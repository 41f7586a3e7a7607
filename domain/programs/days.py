"""Requested ranges of days in UTC, including the first and the last."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

DEFAULT_DAYS = 30
MAX_DAYS = 366

_DAY = timedelta(days=1)


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
        return (self.first + _DAY * offset for offset in range(self._count))

    @property
    def _count(self) -> int:
        return (self.last - self.first).days + 1


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
