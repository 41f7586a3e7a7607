"""Positions of the last commits, by caller: stored for seconds on the broker's server, for all web processes.

A position is no longer needed once it is older than the lag that a replica may have, so it expires on the server. The
server also stores that its positions are complete: an emptied or new server is trusted only after that time.
"""

import threading
import time
from collections.abc import Sequence

import structlog
from redis import RedisError

from adapters.thread_redis import Script, ThreadRedis

_log = structlog.get_logger(__name__)

# In one slot of a cluster, because each script reads or writes several keys.
_PREFIX = "{finderfee:reads}:"
_KNOWN, _NEW = f"{_PREFIX}known", f"{_PREFIX}new"
# A commit that could not be recorded while the server was down counts for every caller when the server is back.
_ANY_CALLER = "*"
# The pause after a failure, so that an outage costs a time-out now and then and not one per request.
_PAUSE_S = 5.0

# Positions have a fixed width, so that texts compare like numbers.
_RECORD = Script("""
for _, key in ipairs(KEYS) do
  local known = redis.call('get', key)
  if not known or known < ARGV[1] then redis.call('set', key, ARGV[1], 'ex', ARGV[2]) end
end
return 1
""")
_LATEST = Script("""
if redis.call('exists', KEYS[1]) == 0 then
  redis.call('set', KEYS[1], 1)
  redis.call('set', KEYS[2], 1, 'ex', ARGV[1])
end
if redis.call('exists', KEYS[2]) == 1 then return false end
local latest = ''
for i = 3, #KEYS do
  local known = redis.call('get', KEYS[i])
  if known and known > latest then latest = known end
end
return latest
""")


class CommitPositions:
    """The last commit position of each caller, stored for `keep_s` seconds, which is more than a replica may lag."""

    def __init__(self, redis_url: str, *, keep_s: int) -> None:
        self._redis = ThreadRedis(redis_url)
        self._keep_s = keep_s
        self._paused_until = 0.0
        self._missed = 0
        self._lock = threading.Lock()

    def record(self, names: Sequence[str], position: int) -> None:
        """Record a commit of these callers. Budget: 1 round trip. A failed write is made up for at the next success."""
        if not self._write(names, position):
            with self._lock:
                self._missed = max(self._missed, position)

    def find_latest(self, names: Sequence[str]) -> int | None:
        """Return the position of the last commit of any of these callers, 0 without one, None if it is unknown.

        Budget: 1 round trip.
        """
        if self._is_paused() or not self._write_missed():
            return None
        keys = [_KNOWN, _NEW, *map(_key, (_ANY_CALLER, *names))]
        try:
            reply = self._redis.run(_LATEST, len(keys), *keys, self._keep_s)
        except RedisError as error:
            self._pause(error)
            return None
        return None if reply is None else _position_from_reply(reply)

    def _write(self, names: Sequence[str], position: int) -> bool:
        if self._is_paused():
            return False
        try:
            self._redis.run(_RECORD, len(names), *map(_key, names), f"{position:016x}", self._keep_s)
        except RedisError as error:
            self._pause(error)
            return False
        return True

    def _write_missed(self) -> bool:
        missed = self._missed
        if missed and self._write((_ANY_CALLER,), missed):
            with self._lock:
                self._missed = 0 if self._missed == missed else self._missed
        return not self._missed

    def _is_paused(self) -> bool:
        return self._paused_until > time.monotonic()

    def _pause(self, error: RedisError) -> None:
        _log.warning("reads.marks_away", error=str(error))
        self._paused_until = time.monotonic() + _PAUSE_S


def _position_from_reply(reply: bytes) -> int | None:
    """Return the position in a reply; None for one that another release wrote and this one cannot read."""
    try:
        return int(reply or b"0", 16)
    except ValueError:
        return None


def _key(name: str) -> str:
    return f"{_PREFIX}{name}"
