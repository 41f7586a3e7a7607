"""Wakes the relay when there are jobs to dispatch, so that it does not wait for its next poll.

Nothing depends on it: a lost wake-up costs a quarter of a second.
"""

import time

from flask import current_app
from redis import RedisError

from adapters import broker
from adapters.thread_redis import ThreadRedis

# One wake-up serves every job staged around it; more would only cost round trips.
_AT_MOST_EVERY_S = 0.02
# The relay polls anyway; after a failure the broker is not called for a while.
_LEAVE_ALONE_S = 5.0


class Waker:
    """Wakes the relay at most once per 20 ms and process, and not while the broker is down."""

    def __init__(self, redis_url: str) -> None:
        self._redis = ThreadRedis(redis_url)
        self._quiet_until = 0.0

    def wake(self) -> None:
        """Push a wake-up unless one is under way."""
        now = time.monotonic()
        if now < self._quiet_until:
            return
        self._quiet_until = now + _AT_MOST_EVERY_S
        try:
            self._redis.send("LPUSH", broker.WAKE, 1)
        except RedisError:
            self._quiet_until = now + _LEAVE_ALONE_S


def wake_relay() -> None:
    """Wake the relay after a commit; never fails."""
    current_app.extensions["waker"].wake()
