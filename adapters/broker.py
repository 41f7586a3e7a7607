"""The client of the Redis-protocol server: one per process, without automatic retries.

A command without a reply is not sent again by the client: a repeated enqueue would duplicate the message. The relay
dispatches lost jobs again after their deadlines.
"""

import functools
import socket
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlsplit

from adapters import without_packages

with without_packages("opentelemetry"):  # for its own metrics: three megabytes if traces are installed
    import redis
from redis import RedisError as RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from adapters.redis_servers import sentinel
from adapters.redis_servers.cluster import ClusterClient
from settings import broker_address
from settings.broker_address import Kind

#: The relay sleeps on this list; anything pushed to it wakes the relay. Losing it costs a fraction of a second.
WAKE_LIST = "finderfee:wake"

_SHORT_TIMEOUT_S = 0.25


@functools.cache
def prompt_client(url: str) -> redis.Redis:
    """Return this process's client for optional work of a request: it times out after a quarter of a second."""
    return _create_client(url, socket_timeout=_SHORT_TIMEOUT_S, socket_connect_timeout=_SHORT_TIMEOUT_S)


@functools.cache
def client(url: str) -> redis.Redis:
    """Return this process's client for `url`."""
    return _create_client(url, socket_timeout=3, socket_connect_timeout=1)


def is_rabbitmq_reachable(amqp_url: str) -> bool:
    """Return whether any node of a RabbitMQ accepts TCP connections. Cheap enough to call every second."""
    for node in map(urlsplit, broker_address.parse_amqp(amqp_url)):
        with suppress(OSError), socket.create_connection((node.hostname, node.port), timeout=_SHORT_TIMEOUT_S):
            return True
    return False


def is_cluster(client: object) -> bool:
    """Return whether the keys are spread over several servers, so that a command takes only keys of one slot."""
    return isinstance(client, ClusterClient)


def drop_connections(client: Any) -> None:
    """Drop connections that a forked process inherited."""
    if isinstance(client, ClusterClient):
        client.forget_connections()
    else:
        client.connection_pool.reset()


def server_info(client: Any, key: str, section: str) -> dict[str, Any]:
    """Return a section of INFO from the server that holds `key`."""
    if isinstance(client, ClusterClient):
        return client.server_info(key, section)
    info: dict[str, Any] = client.info(section)
    return info


def _create_client(url: str, **timeouts: float) -> redis.Redis:
    address = broker_address.parse(url)
    if address.kind is Kind.Sentinel:
        return sentinel.primary(address, **timeouts)
    if address.kind is Kind.Cluster:
        return cast(redis.Redis, ClusterClient(address, **timeouts))  # it has the same commands
    return redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), health_check_interval=0, **timeouts)
