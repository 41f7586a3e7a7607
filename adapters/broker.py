"""The client of the Redis-protocol server: one per process, without blind repeats of commands.

A command that was sent and not answered is not sent again by the client: an enqueue repeated blindly is a message
twice. The relay's own deadlines bring back what was lost.
"""

import functools
import socket
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlsplit

from adapters import absent

with absent("opentelemetry"):  # for numbers of its own: three megabytes where traces are installed
    import redis
from redis import RedisError as RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from adapters.many_servers import sentinel
from adapters.many_servers.cluster import ClusterClient
from settings import broker_address
from settings.broker_address import Kind

#: The relay sleeps on this list; anything pushed to it wakes the relay. Losing it costs a fraction of a second.
WAKE = "finderfee:wake"

_PROMPT_S = 0.25


@functools.cache
def prompt_client(url: str) -> redis.Redis:
    """Return this process's client for what a request can do without: it gives up after a quarter of a second."""
    return _made(url, socket_timeout=_PROMPT_S, socket_connect_timeout=_PROMPT_S)


@functools.cache
def client(url: str) -> redis.Redis:
    """Return this process's client for `url`."""
    return _made(url, socket_timeout=3, socket_connect_timeout=1)


def listens(amqp_url: str) -> bool:
    """Say whether any node of a RabbitMQ takes connections. None is opened beyond that: every second would be many."""
    for node in map(urlsplit, broker_address.parse_amqp(amqp_url)):
        with suppress(OSError), socket.create_connection((node.hostname, node.port), timeout=_PROMPT_S):
            return True
    return False


def is_cluster(client: object) -> bool:
    """Say whether a client's keys lie on several servers, so that a command takes only keys of one slot."""
    return isinstance(client, ClusterClient)


def forget_connections(client: Any) -> None:
    """Let go of connections that a forked process inherited."""
    if isinstance(client, ClusterClient):
        client.forget_connections()
    else:
        client.connection_pool.reset()


def info_beside(client: Any, key: str, section: str) -> dict[str, Any]:
    """Return a section of what the server that has `key` says of itself."""
    if isinstance(client, ClusterClient):
        return client.info_beside(key, section)
    found: dict[str, Any] = client.info(section)
    return found


def _made(url: str, **timeouts: float) -> redis.Redis:
    address = broker_address.parse(url)
    if address.kind is Kind.Sentinel:
        return sentinel.primary(address, **timeouts)
    if address.kind is Kind.Cluster:
        return cast(redis.Redis, ClusterClient(address, **timeouts))  # it answers the same commands
    return redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), health_check_interval=0, **timeouts)
