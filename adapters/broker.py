"""The client of the Redis-protocol server: one per process, without blind repeats of commands.

A command that was sent and not answered is not sent again by the client: an enqueue repeated blindly is a message
twice. The relay's own deadlines bring back what was lost.
"""

import functools

import redis
from redis import RedisError as RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

#: The relay sleeps on this list; anything pushed to it wakes the relay. Losing it costs a fraction of a second.
WAKE = "finderfee:wake"


@functools.cache
def prompt_client(url: str) -> redis.Redis:
    """Return this process's client for what a request can do without: it gives up after a quarter of a second."""
    return redis.Redis.from_url(url, socket_timeout=0.25, socket_connect_timeout=0.25, retry=Retry(NoBackoff(), 0))


@functools.cache
def client(url: str) -> redis.Redis:
    """Return this process's client for `url`."""
    return redis.Redis.from_url(
        url, socket_timeout=3, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0), health_check_interval=0
    )
