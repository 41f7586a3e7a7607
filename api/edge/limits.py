"""Rate limits: fixed windows of a minute on the broker's server, shared by all web processes.

When that server is away the limits are off and a counter says so: a sale is worth more than a limit.
Source: core spec, section 8 "Limits".
"""

import time

import structlog
from limits import RateLimitItemPerMinute
from limits.storage import RedisStorage
from limits.strategies import FixedWindowRateLimiter
from prometheus_client import Counter
from redis import RedisError

import settings
from adapters import broker

_log = structlog.get_logger(__name__)
_failed_open = Counter("finderfee_rate_limit_failed_open_total", "Requests let through because the counters were away.")

# After a failure the counters are left alone this long, so that an outage costs a time-out now and then, not one each.
_LEAVE_ALONE_S = 5.0


class Limiter:
    """Counts requests per bucket and caller."""

    def __init__(self, redis_url: str, chosen: settings.Settings) -> None:
        client = broker.prompt_client(redis_url)
        storage = RedisStorage("redis://", connection_pool=client.connection_pool)
        self._windows = FixedWindowRateLimiter(storage)
        self._away_until = 0.0
        self._items = {bucket: RateLimitItemPerMinute(limit) for bucket, limit in chosen.rate_limits_per_min.items()}

    def allows(self, bucket: str, caller: str) -> bool:
        """Count one request of `caller` (a user id or an IP) and say whether it is within the bucket's limit."""
        if self._away_until > time.monotonic():
            _failed_open.inc()
            return True
        try:
            return self._windows.hit(self._items[bucket], bucket, caller)
        except RedisError as error:
            _log.warning("rate_limit.failed_open", error=str(error))
            self._away_until = time.monotonic() + _LEAVE_ALONE_S
            _failed_open.inc()
            return True
