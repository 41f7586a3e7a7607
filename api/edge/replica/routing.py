"""Routing of reads that may lag (`Operation.may_lag`) to the replica, with the primary as the fallback.

A read requires a position of the replica: the last commit of its caller and their organization, and the position that
the primary had at most `max_lag_s` ago, which this process queries once a second while there are reads. The replica
checks the position in the round trip of the read. If it is behind, down or cancels the read, the primary answers.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

import structlog
from prometheus_client import Counter

from api.edge.replica.commit_positions import CommitPositions
from models import db
from models.upkeep import log_positions

_log = structlog.get_logger(__name__)
_reads = Counter(
    "finderfee_reads_total",
    "Reads that may lag, by the server that answered and why it was not the replica: the caller had just written"
    " (wrote), the replica was behind, down (away) or cancelled the read (conflict), or the caller's last commit was"
    " unknown.",
    ["server", "why"],
)

# After this pause one read tries a failed replica again; if it succeeds, all do.
_PAUSE_S = 5.0
# After the replica was behind a position, reads that need it skip the replica for this long.
_BEHIND_PAUSE_S = 0.25
_ASK_PRIMARY_EVERY_S = 1.0

_BEHIND = "55000"
_TOO_SLOW = "57014"
_CONFLICTS = ("40001", "40P01", "55P03")

Answer = TypeVar("Answer")


class ReadRouter:
    """Routes the reads of this process, if there is a replica.

    Budget of a read: 1 more round trip to the broker's server, and at most once a second 2 to the primary. A fallback
    costs the round trips of the failed read in addition.
    """

    def __init__(self, redis_url: str, *, max_lag_s: int) -> None:
        # A position may expire when every replica that is read has it: one that lags by at most `max_lag_s`.
        self._positions = CommitPositions(redis_url, keep_s=max_lag_s + 5)
        self._max_lag_s = max_lag_s
        self._primary_positions: deque[tuple[float, int]] = deque()
        self._pause_lock, self._primary_lock = threading.Lock(), threading.Lock()
        self._paused_until = 0.0
        self._behind_until = (0, 0.0)

    def record_commit(self, names: Sequence[str], position: int) -> None:
        """Record a commit of these callers before they get the answer. Budget: 1 round trip to the broker's server."""
        self._positions.record(names, position)

    def run(self, names: Sequence[str], read: Callable[[], Answer]) -> Answer:
        """Run `read` for a caller with these names and return its result. It may run twice, in read-only transactions.

        Raises what it raises at the primary; db.UNAVAILABLE if it was too slow at the replica.
        """
        written = self._positions.find_latest(names)
        if written is None:
            return _read_at_primary(read, "unknown")
        if self._is_paused():
            return _read_at_primary(read, "away")
        position = max(written, self._required_position())
        if position >= self._behind_until[0] and time.monotonic() < self._behind_until[1]:
            return _read_at_primary(read, "wrote" if position == written else "behind")
        try:
            with db.read_only(position):
                result = read()
        except (*db.UNAVAILABLE, db.UNDEFINED) as error:
            why = self._fallback_reason(error, position)
            return _read_at_primary(read, "wrote" if why == "behind" and position == written else why)
        self._paused_until = 0.0
        _reads.labels("replica", "").inc()
        return result

    def _is_paused(self) -> bool:
        """Return whether the replica is paused. After the pause only the first read tries it, for all."""
        with self._pause_lock:
            now = time.monotonic()
            if self._paused_until == 0.0:
                return False
            is_paused = now < self._paused_until
            if not is_paused:
                self._paused_until = now + _PAUSE_S
            return is_paused

    def _required_position(self) -> int:
        """Return a recent position of the primary, not older than a replica may lag."""
        if self._primary_lock.acquire(blocking=not self._has_primary_position()):
            try:
                self._ask_primary()
            finally:
                self._primary_lock.release()
        return self._primary_positions[0][1]

    def _has_primary_position(self) -> bool:
        return bool(self._primary_positions) and self._primary_positions[0][0] > time.monotonic() - self._max_lag_s

    def _ask_primary(self) -> None:
        now = time.monotonic()
        if not self._primary_positions or self._primary_positions[-1][0] < now - _ASK_PRIMARY_EVERY_S:
            with db.any_org_work():
                self._primary_positions.append((now, log_positions.any_org_read_primary()))
        while self._primary_positions[0][0] <= now - self._max_lag_s:
            self._primary_positions.popleft()

    def _fallback_reason(self, error: Exception, position: int) -> str:
        code = db.sqlstate(error)
        if code == _TOO_SLOW:
            raise error  # it would be as slow at the primary, which has more work
        if code == _BEHIND or isinstance(error, db.UNDEFINED):
            self._behind_until = (position, time.monotonic() + _BEHIND_PAUSE_S)
            return "behind"
        if code in _CONFLICTS:
            return "conflict"
        _log.warning("reads.replica_away", error=str(error))
        self._paused_until = time.monotonic() + _PAUSE_S
        return "away"


def _read_at_primary(read: Callable[[], Answer], why: str) -> Answer:
    _reads.labels("primary", why).inc()
    with db.read_only():
        return read()
