"""Rate limits: fixed windows of a minute on the broker's server, shared by all web processes.

When that server is away the limits are off and a counter says so: a sale is worth more than a limit.
Source: core spec, section 8 "Limits".
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from limits import RateLimitItemPerMinute
from limits.storage import RedisStorage
from prometheus_client import Counter
from redis import RedisError

import settings
from adapters import broker
from adapters.prompt_wire import PromptWire, Script

_log = structlog.get_logger(__name__)
_failed_open = Counter("finderfee_rate_limit_failed_open_total", "Requests let through because the counters were away.")

# After a failure the counters are left alone this long, so that an outage costs a time-out now and then, not one each.
_LEAVE_ALONE_S = 5.0

# Whose windows are full is remembered, up to so many of them; past it they are counted again.
_MOST_FULL = 10_000

_COUNT = Script("""
local count = redis.call('incr', KEYS[1])
if count == 1 then redis.call('expire', KEYS[1], ARGV[1]) end
return count
""")


@dataclass(frozen=True, slots=True)
class Window:
    """Where a caller's requests are counted: the key on the server, how many there may be, how long it lasts."""

    key: str
    limit: int
    seconds: int


class Limiter:
    """Counts requests per bucket and caller."""

    def __init__(self, redis_url: str, chosen: settings.Settings) -> None:
        client = broker.prompt_client(redis_url)
        self._storage = RedisStorage("redis://", connection_pool=client.connection_pool)
        self._wire = PromptWire(redis_url)
        self._full_until: dict[str, float] = {}
        self._away_until = 0.0
        self._items = {bucket: RateLimitItemPerMinute(limit) for bucket, limit in chosen.rate_limits_per_min.items()}

    def allows(self, bucket: str, caller: str) -> bool:
        """Count one request of `caller` (a user id or an IP) and say whether it is within the bucket's limit."""
        if self._away_until > time.monotonic():
            _failed_open.inc()
            return True
        window = self._window(bucket, caller)
        try:
            return bool(self._wire.run(_COUNT, 1, window.key, window.seconds) <= window.limit)
        except RedisError as error:
            self._leave_alone(error)
            return True

    def allows_with(self, bucket: str, caller: str, send: Callable[[Window], int]) -> bool | None:
        """Like `allows`, in a round trip to the same server that `send` makes anyway, which counts as `allows` does.

        `send` returns 0, or for how many milliseconds the window is full yet, which this process then remembers.
        None: the server is away, so nobody is refused and nothing was sent for certain.
        """
        if self._away_until > time.monotonic():
            _failed_open.inc()
            return None
        window = self._window(bucket, caller)
        try:
            full_ms = send(window)
        except RedisError as error:
            self._leave_alone(error)
            return None
        if full_ms:
            self._remember_full(window.key, full_ms)
        return not full_ms

    def is_full(self, bucket: str, caller: str) -> bool:
        """Say whether this process was told that the caller's window is full. No round trip."""
        if not self._full_until:
            return False
        return self._full_until.get(self._window(bucket, caller).key, 0.0) > time.monotonic()

    def _window(self, bucket: str, caller: str) -> Window:
        item = self._items[bucket]
        key = self._storage.prefixed_key(item.key_for(bucket, caller))
        return Window(key, item.amount, item.get_expiry())

    def _remember_full(self, key: str, full_ms: int) -> None:
        if len(self._full_until) >= _MOST_FULL:
            self._full_until = {}
        self._full_until[key] = time.monotonic() + full_ms / 1000

    def _leave_alone(self, error: RedisError) -> None:
        _log.warning("rate_limit.failed_open", error=str(error))
        self._away_until = time.monotonic() + _LEAVE_ALONE_S
        _failed_open.inc()
