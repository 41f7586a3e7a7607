"""Which server answers what may lag (`Operation.may_lag`), and what becomes of a read that the replica cannot answer.

A read asks the replica for a position: the last commit of its caller and of their organization, and what the primary
had at most `most_lag_s` ago, which this process asks it once a second while there are reads. The replica itself says
whether it is there, in the round trip of the read. Where it is not, or is away, or had to break the read off, the same
is done at the primary.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

import structlog
from prometheus_client import Counter

from api.edge.reading.marks import Marks
from models import db
from models.upkeep import log_positions

_log = structlog.get_logger(__name__)
_reads = Counter(
    "finderfee_reads_total",
    "Reads that may lag, by the server that answered and why it was not the replica: its caller had just written"
    " (wrote), it was behind, away or had to break it off (conflict), or nobody knew who had written (unknown).",
    ["server", "why"],
)

# A replica that was away is asked again by one read after this long, and by all when that is answered.
_LEAVE_ALONE_S = 5.0
# One that was not at a position is not asked for it again for this long.
_NOT_YET_S = 0.25
_ASK_PRIMARY_EVERY_S = 1.0

_BEHIND = "55000"
_TOO_SLOW = "57014"
_BROKEN_OFF = ("40001", "40P01", "55P03")

Answer = TypeVar("Answer")


class Reads:
    """Where this process reads, with a replica.

    Budget of a read: 1 round trip to the broker's server more, and at most once a second 2 to the primary. One that the
    replica cannot answer has cost the round trips until then.
    """

    def __init__(self, redis_url: str, *, most_lag_s: int) -> None:
        # A mark may go when any replica that is read has it: one that is at what the primary had `most_lag_s` ago.
        self._marks = Marks(redis_url, keep_s=most_lag_s + 5)
        self._most_lag_s = most_lag_s
        self._primary: deque[tuple[float, int]] = deque()
        self._looking, self._asking = threading.Lock(), threading.Lock()
        self._away_until = 0.0
        self._not_yet = (0, 0.0)

    def mark(self, names: Sequence[str], position: int) -> None:
        """Remember that these wrote, before they are told so. Budget: 1 round trip to the broker's server."""
        self._marks.put(names, position)

    def answer(self, names: Sequence[str], read: Callable[[], Answer]) -> Answer:
        """Return what `read` returns to who goes by these names. It may be called twice; its transactions only read.

        Raises what it raises at the primary; db.UNAVAILABLE where it was too slow at the replica.
        """
        written = self._marks.latest(names)
        if written is None:
            return _at_primary(read, "unknown")
        if self._is_away():
            return _at_primary(read, "away")
        position = max(written, self._required())
        if position >= self._not_yet[0] and time.monotonic() < self._not_yet[1]:
            return _at_primary(read, "wrote" if position == written else "behind")
        try:
            with db.read_only(position):
                found = read()
        except (*db.UNAVAILABLE, db.UNDEFINED) as error:
            why = self._why_not(error, position)
            return _at_primary(read, "wrote" if why == "behind" and position == written else why)
        self._away_until = 0.0
        _reads.labels("replica", "").inc()
        return found

    def _is_away(self) -> bool:
        """Say whether the replica is left alone. Whoever is first to ask when it is no more finds out for all."""
        with self._looking:
            now = time.monotonic()
            if self._away_until == 0.0:
                return False
            is_away = now < self._away_until
            if not is_away:
                self._away_until = now + _LEAVE_ALONE_S
            return is_away

    def _required(self) -> int:
        """Return what the primary had a moment ago, but not longer ago than a replica may lag."""
        if self._asking.acquire(blocking=not self._is_known()):
            try:
                self._ask_primary()
            finally:
                self._asking.release()
        return self._primary[0][1]

    def _is_known(self) -> bool:
        return bool(self._primary) and self._primary[0][0] > time.monotonic() - self._most_lag_s

    def _ask_primary(self) -> None:
        now = time.monotonic()
        if not self._primary or self._primary[-1][0] < now - _ASK_PRIMARY_EVERY_S:
            with db.any_org_work():
                self._primary.append((now, log_positions.any_org_read_primary()))
        while self._primary[0][0] <= now - self._most_lag_s:
            self._primary.popleft()

    def _why_not(self, error: Exception, position: int) -> str:
        code = db.sqlstate(error)
        if code == _TOO_SLOW:
            raise error  # it would be as slow at the primary, which has more to do
        if code == _BEHIND or isinstance(error, db.UNDEFINED):
            self._not_yet = (position, time.monotonic() + _NOT_YET_S)
            return "behind"
        if code in _BROKEN_OFF:
            return "conflict"
        _log.warning("reads.replica_away", error=str(error))
        self._away_until = time.monotonic() + _LEAVE_ALONE_S
        return "away"


def _at_primary(read: Callable[[], Answer], why: str) -> Answer:
    _reads.labels("primary", why).inc()
    with db.read_only():
        return read()
