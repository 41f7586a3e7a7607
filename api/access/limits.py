"""Rate limits: fixed windows of a minute on the broker's server, shared by all web processes.

An anonymous sender's IPv6 network has its own window and shares a wider one with its /48, because one rented server
comes with a /48 of 65,536 networks. A request that its own window refuses does not count in the wider one.
While that server is down, limits are off and a counter says so: a sale is worth more than a limit.
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

from adapters.thread_redis import Script, ThreadRedis

_log = structlog.get_logger(__name__)
_failed_open = Counter(
    "finderfee_rate_limit_failed_open_total", "Requests allowed because the counters' server was down."
)

# The pause after a failure, so that an outage costs a time-out now and then and not one per request.
_PAUSE_S = 5.0

# Callers whose windows are cached: building their keys takes longer than the rest of the work here.
_CACHED_CALLERS = 4096

# The number of full windows that are remembered; when there are more, all are forgotten and counted again.
_MAX_FULL = 10_000

#: The limit of a /48, as a multiple of that of one network.
SITE_LIMIT_FACTOR = 16
_SITE_BITS = 48

# The caller's own window first; a wider one counts what the narrower lets through. Returns 0 if none is full, else the
# index of the full one and for how many milliseconds it stays full.
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
    """A window in which a caller's requests are counted: its key on the server, its limit and its length."""

    key: str
    limit: int
    seconds: int


#: The index of the full window (the caller's own first), and for how many milliseconds it stays full.
Full = tuple[int, int]


class Limiter:
    """Counts requests per bucket and caller: a user id, an IPv4 address or an IPv6 network.

    Windows that are counted together are in one slot of a cluster: those of a caller, or those of a whole bucket next
    to its key in `slot_keys`, if its requests are counted in a round trip that also uses that key.
    """

    def __init__(
        self, redis_url: str, limits_per_min: Mapping[str, int], *, slot_keys: Mapping[str, str] | None = None
    ) -> None:
        self._slot_keys = slot_keys or {}
        self._redis = ThreadRedis(redis_url)
        self._full_until: dict[str, float] = {}
        self._paused_until = 0.0
        self._items = {bucket: RateLimitItemPerMinute(limit) for bucket, limit in limits_per_min.items()}
        self._cached_windows = functools.lru_cache(maxsize=_CACHED_CALLERS)(self._build_windows)

    def allows(self, bucket: str, caller: str) -> bool:
        """Count one request of `caller` and return whether it is within the bucket's limit. Budget: 1 round trip.

        This process remembers a full window (`is_full`).
        """
        if self.is_paused():
            _failed_open.inc()
            return True
        windows = self.windows(bucket, caller)
        keys, limits = [window.key for window in windows], [window.limit for window in windows]
        try:
            full: Full | int = self._redis.run(_COUNT, len(keys), *keys, windows[0].seconds, *limits)
        except RedisError as error:
            self.fail_open(error)
            return True
        return self.record_reply(windows, None if isinstance(full, int) else full)

    def allows_with(self, bucket: str, caller: str, send: Callable[[], Full | None]) -> bool | None:
        """Like `allows`, but `send` makes the round trip and counts the request in the caller's windows.

        `send` returns None, or which window is full; this process then caches it.
        Return None if the server is down: the request is allowed, and it is unknown whether anything was sent.
        """
        if self.is_paused():
            _failed_open.inc()
            return None
        try:
            return self.record_reply(self.windows(bucket, caller), send())
        except RedisError as error:
            self.fail_open(error)
            return None

    def is_paused(self) -> bool:
        """Return whether the server failed a few seconds ago and is not called for now."""
        return self._paused_until > time.monotonic()

    def record_reply(self, windows: Sequence[Window], full: Full | None) -> bool:
        """Return whether a request is allowed, given the window that the server reported full; remember that window."""
        if full is not None:
            place, full_ms = full
            self._remember_full(windows[place].key, full_ms)
        return full is None

    def fail_open(self, error: RedisError) -> None:
        """Allow a request that the server could not count, and pause calls to the server."""
        _log.warning("rate_limit.failed_open", error=str(error))
        self._paused_until = time.monotonic() + _PAUSE_S
        _failed_open.inc()

    def is_full(self, bucket: str, caller: str) -> bool:
        """Return whether this process knows that a window of the caller is full. No round trip."""
        if not self._full_until:
            return False
        now = time.monotonic()
        return any(self._full_until.get(window.key, 0.0) > now for window in self.windows(bucket, caller))

    def windows(self, bucket: str, caller: str) -> Sequence[Window]:
        """Return the windows of a caller, their own first."""
        return self._cached_windows(bucket, caller)

    def _build_windows(self, bucket: str, caller: str) -> Sequence[Window]:
        item = self._items[bucket]
        site = site_from_address(caller)
        slot = self._slot_keys.get(bucket) or site or caller
        own = Window(_key(slot, item, bucket, caller), item.amount, item.get_expiry())
        if site is None:
            return (own,)
        return own, Window(_key(slot, item, bucket, site), item.amount * SITE_LIMIT_FACTOR, own.seconds)

    def _remember_full(self, key: str, full_ms: int) -> None:
        if len(self._full_until) >= _MAX_FULL:
            self._full_until = {}
        self._full_until[key] = time.monotonic() + full_ms / 1000


def _key(slot: str, item: RateLimitItemPerMinute, bucket: str, caller: str) -> str:
    # A cluster chooses the slot by the text in braces.
    return f"LIMITS:{{{slot}}}:{item.key_for(bucket, caller)}"


@functools.lru_cache(maxsize=_CACHED_CALLERS)
def site_from_address(caller: str) -> str | None:
    """Return the /48 around an IPv6 address or network; None for every other caller."""
    try:
        address = ipaddress.IPv6Address(caller)
    except ValueError:
        return None
    return str(ipaddress.IPv6Network((int(address), 128)).supernet(new_prefix=_SITE_BITS))
