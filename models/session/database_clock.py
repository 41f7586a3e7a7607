"""The database's clock in this process: read from time to time, and advanced by the machine's monotonic clock.

Every connection reads it when it is opened, and every half minute the next transaction reads it again. After the first
reading the machine's time of day has no effect: a clock that is hours off, or is corrected while the process runs,
changes no time that is written or compared. Decision 62 says why.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

# Continues while the machine sleeps, if the system has such a clock.
_COUNT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_NS = 1_000_000_000
_EVERY_NS = 30 * _NS
# The pause before another transaction tries to read it if a reading failed or never happened.
_RETRY_NS = _NS
_READ = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint"


class DatabaseClock:
    """The database's time, and how far this machine's clock is ahead of it.

    Threads share one. Two readings at the same time do no harm.
    """

    def __init__(self) -> None:
        self._offset_ns: int | None = None
        self._due_ns = 0
        #: Called once if the time is needed before the clock was ever read; None: the machine's time is used then.
        self.read_first: Callable[[], None] | None = None
        #: Called after each reading with how many seconds the machine's clock is ahead.
        self.hooks: list[Callable[[float], None]] = []

    @property
    def is_known(self) -> bool:
        """Whether it was ever read; before that it returns the machine's time."""
        return self._offset_ns is not None

    def now(self) -> datetime:
        """Return the database's time, aware, UTC."""
        return datetime.fromtimestamp(self.now_ns() / _NS, UTC)

    def now_ns(self) -> int:
        """Return the nanoseconds since 1970 by the database's clock."""
        if self._offset_ns is None and self.read_first is not None:
            read, self.read_first = self.read_first, None
            read()
        offset_ns = self._offset_ns
        return time.time_ns() if offset_ns is None else time.clock_gettime_ns(_COUNT) + offset_ns

    def is_due(self) -> bool:
        """Return whether another reading is due; the caller makes it, and no other is due for a second."""
        now_ns = time.clock_gettime_ns(_COUNT)
        if now_ns < self._due_ns:
            return False
        self._due_ns = now_ns + _RETRY_NS
        return True

    def read(self, connection: Any) -> None:
        """Read the clock on a connection that is in no transaction, in one round trip. Raises psycopg2's errors."""
        sent_ns = time.clock_gettime_ns(_COUNT)
        with connection.cursor() as cursor:
            cursor.execute(_READ)
            ((microseconds,),) = cursor.fetchall()
        self._apply(microseconds * 1_000, sent_ns, time.clock_gettime_ns(_COUNT))

    def _apply(self, database_ns: int, sent_ns: int, received_ns: int) -> None:
        """Apply a reading, unless the known offset lies within its uncertainty, so that it adds nothing."""
        uncertainty_ns = (received_ns - sent_ns) // 2
        offset_ns = database_ns - (sent_ns + uncertainty_ns)
        if self._offset_ns is None or abs(offset_ns - self._offset_ns) > uncertainty_ns:
            self._offset_ns = offset_ns
        self._due_ns = received_ns + _EVERY_NS
        ahead_s = (time.time_ns() - self.now_ns()) / _NS
        for hook in self.hooks:
            hook(ahead_s)


#: This process's.
database_clock = DatabaseClock()
