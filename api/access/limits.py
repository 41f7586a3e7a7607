"""Rate limits: fixed windows of a minute on the broker's server, shared by all web processes.

A stranger's IPv6 network counts alone and, with all others of its /48, in a wider window: who rents one server is given
a /48 of 65,536 networks. A request that its own network may not send does not count against its neighbours.
When that server is away the limits are off and a counter says so: a sale is worth more than a limit.
Source: core spec, section 8 "Limits".
"""

import functools
import ipaddress
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog
from limits import RateLimitItemPerMinute
from prometheus_client import Counter
from redis import RedisError

from adapters.prompt_wire import PromptWire, Script

_log = structlog.get_logger(__name__)
_failed_open = Counter("finderfee_rate_limit_failed_open_total", "Requests let through because the counters were away.")

# After a failure the counters are left alone this long, so that an outage costs a time-out now and then, not one each.
_LEAVE_ALONE_S = 5.0

# Callers whose windows are named in memory: naming them takes longer than all else that is done here.
_KNOWN_CALLERS = 4096

# Whose windows are full is remembered, up to so many of them; past it they are counted again.
_MOST_FULL = 10_000

#: How many networks' worth of requests a whole /48 may send.
SITE_TIMES = 16
_SITE_BITS = 48

# The caller's own window first; a wider one counts what the narrower lets through. Answers 0 where all are in order,
# else which one is full and for how many milliseconds yet.
_COUNT = Script("""
for i, key in ipairs(KEYS) do
  local count = redis.call('incr', key)
  if count == 1 then redis.call('expire', key, ARGV[1]) end
  if count > tonumber(ARGV[i + 1]) then return {i - 1, redis.call('pttl', key)} end
end
return 0
""")


@dataclass(frozen=True, slots=True)
class Window:
    """Where a caller's requests are counted: the key on the server, how many there may be, how long it lasts."""

    key: str
    limit: int
    seconds: int


#: Which of the windows is full (by its place, the caller's own first), and for how many milliseconds yet.
Full = tuple[int, int]


class Limiter:
    """Counts requests per bucket and caller: a user id, an IP, or the IPv6 network that stands for one.

    What is counted together lies in one slot of a cluster: the windows of a caller, and all of a bucket beside the key
    that `beside` names, where requests are counted in a round trip that does something else with that key.
    """

    def __init__(
        self, redis_url: str, limits_per_min: Mapping[str, int], *, beside: Mapping[str, str] | None = None
    ) -> None:
        self._beside = beside or {}
        self._wire = PromptWire(redis_url)
        self._full_until: dict[str, float] = {}
        self._away_until = 0.0
        self._items = {bucket: RateLimitItemPerMinute(limit) for bucket, limit in limits_per_min.items()}
        self._known_windows = functools.lru_cache(maxsize=_KNOWN_CALLERS)(self._windows)

    def allows(self, bucket: str, caller: str) -> bool:
        """Count one request of `caller` and say whether it is within the bucket's limit. Budget: 1 round trip.

        A window that is full is then remembered by this process (`is_full`).
        """
        if self.is_left_alone():
            _failed_open.inc()
            return True
        windows = self.windows(bucket, caller)
        keys, most = [window.key for window in windows], [window.limit for window in windows]
        try:
            full: Full | int = self._wire.run(_COUNT, len(keys), *keys, windows[0].seconds, *most)
        except RedisError as error:
            self.fail_open(error)
            return True
        return self.judge(windows, None if isinstance(full, int) else full)

    def allows_with(self, bucket: str, caller: str, send: Callable[[], Full | None]) -> bool | None:
        """Like `allows`, but `send` makes the round trip and counts the request in the caller's windows.

        `send` returns None, or which window is full; this process then caches it.
        Return None if the server is down: the request is allowed, and it is unknown whether anything was sent.
        """
        if self.is_left_alone():
            _failed_open.inc()
            return None
        try:
            return self.judge(self.windows(bucket, caller), send())
        except RedisError as error:
            self.fail_open(error)
            return None

    def is_left_alone(self) -> bool:
        """Say whether the server failed a moment ago, so that nothing is asked of it."""
        return self._away_until > time.monotonic()

    def judge(self, windows: Sequence[Window], full: Full | None) -> bool:
        """Say whether a request is allowed, by what the server said of its windows; a full one is remembered."""
        if full is not None:
            place, full_ms = full
            self._remember_full(windows[place].key, full_ms)
        return full is None

    def fail_open(self, error: RedisError) -> None:
        """Let a request through that the server could not count, and ask it nothing for a while."""
        _log.warning("rate_limit.failed_open", error=str(error))
        self._away_until = time.monotonic() + _LEAVE_ALONE_S
        _failed_open.inc()

    def is_full(self, bucket: str, caller: str) -> bool:
        """Say whether this process was told that a window of the caller's is full. No round trip."""
        if not self._full_until:
            return False
        now = time.monotonic()
        return any(self._full_until.get(window.key, 0.0) > now for window in self.windows(bucket, caller))

    def windows(self, bucket: str, caller: str) -> Sequence[Window]:
        """Return where the caller's requests are counted, their own window first."""
        return self._known_windows(bucket, caller)

    def _windows(self, bucket: str, caller: str) -> Sequence[Window]:
        item = self._items[bucket]
        site = site_of(caller)
        slot = self._beside.get(bucket) or site or caller
        own = Window(_key(slot, item, bucket, caller), item.amount, item.get_expiry())
        if site is None:
            return (own,)
        return own, Window(_key(slot, item, bucket, site), item.amount * SITE_TIMES, own.seconds)

    def _remember_full(self, key: str, full_ms: int) -> None:
        if len(self._full_until) >= _MOST_FULL:
            self._full_until = {}
        self._full_until[key] = time.monotonic() + full_ms / 1000


def _key(slot: str, item: RateLimitItemPerMinute, bucket: str, caller: str) -> str:
    # A cluster finds a key by what is in its braces.
    return f"LIMITS:{{{slot}}}:{item.key_for(bucket, caller)}"


@functools.lru_cache(maxsize=_KNOWN_CALLERS)
def site_of(caller: str) -> str | None:
    """Return the /48 around an IPv6 address or network; None for every other caller."""
    try:
        address = ipaddress.IPv6Address(caller)
    except ValueError:
        return None
    return str(ipaddress.IPv6Network((int(address), 128)).supernet(new_prefix=_SITE_BITS))
