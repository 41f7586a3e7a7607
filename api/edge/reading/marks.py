"""Up to where a replica must be for whom: remembered for seconds on the broker's server, for all web processes.

A mark is the position of somebody's last commit. It is not needed any more once it is older than any replica may be
that is read, so the server forgets it by itself. That everything is known is a mark, too: a server that was emptied or
is new has to be there for as long before it is believed.
"""

import threading
import time
from collections.abc import Sequence

import structlog
from redis import RedisError

from adapters.prompt_wire import PromptWire, Script

_log = structlog.get_logger(__name__)

# In one slot of a cluster, for each script reads or writes several.
_PREFIX = "{finderfee:reads}:"
_KNOWN, _NEW = f"{_PREFIX}known", f"{_PREFIX}new"
# What a process could not mark while the server was away is marked for everybody when it is back.
_EVERYBODY = "*"
# After a failure the server is left alone this long, so that an outage costs a time-out now and then, not one each.
_LEAVE_ALONE_S = 5.0

# Positions are of one width, so that the larger one is the later text.
_MARK = Script("""
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


class Marks:
    """Who wrote up to which position; `keep_s` is how many seconds that is remembered, more than a replica may lag."""

    def __init__(self, redis_url: str, *, keep_s: int) -> None:
        self._wire = PromptWire(redis_url)
        self._keep_s = keep_s
        self._away_until = 0.0
        self._owed = 0
        self._turn = threading.Lock()

    def put(self, names: Sequence[str], position: int) -> None:
        """Remember a commit of these. Budget: 1 round trip. What fails is made up for by the next that does not."""
        if not self._is_marked(names, position):
            with self._turn:
                self._owed = max(self._owed, position)

    def latest(self, names: Sequence[str]) -> int | None:
        """Return the position of the last commit of any of these, 0 where it is no matter; None where nobody knows.

        Budget: 1 round trip.
        """
        if self._is_away() or not self._is_paid():
            return None
        keys = [_KNOWN, _NEW, *map(_key, (_EVERYBODY, *names))]
        try:
            found = self._wire.run(_LATEST, len(keys), *keys, self._keep_s)
        except RedisError as error:
            self._leave_alone(error)
            return None
        return None if found is None else _position(found)

    def _is_marked(self, names: Sequence[str], position: int) -> bool:
        if self._is_away():
            return False
        try:
            self._wire.run(_MARK, len(names), *map(_key, names), f"{position:016x}", self._keep_s)
        except RedisError as error:
            self._leave_alone(error)
            return False
        return True

    def _is_paid(self) -> bool:
        owed = self._owed
        if owed and self._is_marked((_EVERYBODY,), owed):
            with self._turn:
                self._owed = 0 if self._owed == owed else self._owed
        return not self._owed

    def _is_away(self) -> bool:
        return self._away_until > time.monotonic()

    def _leave_alone(self, error: RedisError) -> None:
        _log.warning("reads.marks_away", error=str(error))
        self._away_until = time.monotonic() + _LEAVE_ALONE_S


def _position(mark: bytes) -> int | None:
    """Return the position that a mark says; None for one that only another release can read."""
    try:
        return int(mark or b"0", 16)
    except ValueError:
        return None


def _key(name: str) -> str:
    return f"{_PREFIX}{name}"
