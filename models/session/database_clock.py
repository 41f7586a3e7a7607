"""The database's clock as this process knows it: read from time to time, carried on by the machine's count of seconds.

Every connection reads it when it is opened, and every half minute the first transaction to begin reads it again. What
the machine believes the time of day to be decides nothing from the first reading on: a clock that is hours off, or is
put right while the process runs, changes no time that is written or compared. Decision 62 says why.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

# Counts on while the machine sleeps, where a system has such a count.
_COUNT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_NS = 1_000_000_000
_EVERY_NS = 30 * _NS
# The pause before another transaction tries to read it, where a reading failed or was never made.
_RETRY_NS = _NS
_READ = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint"


class DatabaseClock:
    """What the database's clock says, and how far this machine's clock is ahead of it.

    Threads share one. A reading that two of them make at the same time does no harm.
    """

    def __init__(self) -> None:
        self._offset_ns: int | None = None
        self._due_ns = 0
        #: Called once by the first who wants the time before it was ever read; None: they get the machine's.
        self.first_look: Callable[[], None] | None = None
        #: Called after each reading with how many seconds the machine's clock is ahead.
        self.hooks: list[Callable[[float], None]] = []

    @property
    def is_known(self) -> bool:
        """Whether it was ever read; before that it says what the machine's clock says."""
        return self._offset_ns is not None

    def now(self) -> datetime:
        """Return the database's time, aware, UTC."""
        return datetime.fromtimestamp(self.now_ns() / _NS, UTC)

    def now_ns(self) -> int:
        """Return the nanoseconds since 1970 by the database's clock."""
        if self._offset_ns is None and self.first_look is not None:
            look, self.first_look = self.first_look, None
            look()
        offset_ns = self._offset_ns
        return time.time_ns() if offset_ns is None else time.clock_gettime_ns(_COUNT) + offset_ns

    def is_due(self) -> bool:
        """Return whether it is time for another reading, and leave it to the caller for the next second."""
        now_ns = time.clock_gettime_ns(_COUNT)
        if now_ns < self._due_ns:
            return False
        self._due_ns = now_ns + _RETRY_NS
        return True

    def read(self, connection: Any) -> None:
        """Read the clock on a connection that is in no transaction: one round trip. Raises what psycopg2 raises."""
        sent_ns = time.clock_gettime_ns(_COUNT)
        with connection.cursor() as cursor:
            cursor.execute(_READ)
            ((microseconds,),) = cursor.fetchall()
        self._note(microseconds * 1_000, sent_ns, time.clock_gettime_ns(_COUNT))

    def _note(self, database_ns: int, sent_ns: int, received_ns: int) -> None:
        """Take over a reading, unless what is known lies within its uncertainty: then nothing would be gained."""
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
