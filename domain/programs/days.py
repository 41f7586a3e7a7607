"""Days in UTC that somebody asks about, first and last included."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

DEFAULT_DAYS = 30
MOST_DAYS = 366

_DAY = timedelta(days=1)


class DayRange(NamedTuple):
    """Some days in a row; `last` is one of them."""

    first: date
    last: date

    @property
    def since(self) -> datetime:
        """When the first one begins."""
        return datetime.combine(self.first, time(), UTC)

    @property
    def until(self) -> datetime:
        """When the last one ends: no moment of it."""
        return datetime.combine(self.last, time(), UTC) + _DAY

    def each(self) -> Iterator[date]:
        """Yield the days in their order."""
        return (self.first + _DAY * number for number in range(self._number))

    @property
    def _number(self) -> int:
        return (self.last - self.first).days + 1


def asked(first: date | None, last: date | None, *, today: date, most: int = MOST_DAYS) -> DayRange | None:
    """Return the days that were asked for: up to today, and thirty of them, unless said otherwise.

    None: the last one comes before the first, or they are more than `most`, or beyond the end of time.
    """
    until = last or today
    if until == date.max:
        return None
    try:
        found = DayRange(first or until - _DAY * (DEFAULT_DAYS - 1), until)
    except OverflowError:
        return None
    return found if 0 <= (found.last - found.first).days < most else None
