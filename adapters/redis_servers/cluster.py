"""The client of a cluster, which connects at its first command; redis-py's own connects at its creation.

Errors of a cluster that is electing the primary of a slot are raised as lost connections: code that handles the restart
of a single server also handles a cluster. A command is repeated only if a node refused it.
"""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from redis import RedisCluster
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode
from redis.commands import RedisClusterCommands
from redis.exceptions import ClusterError, MovedError, RedisClusterException, TryAgainError
from redis.exceptions import ConnectionError as Gone
from redis.retry import Retry

from settings.broker_address import BrokerAddress

_Reply = TypeVar("_Reply")


class ClusterClient(RedisClusterCommands):
    """Has the commands of a client of a single server. Raises only RedisError."""

    _event_dispatcher: Any = None  # required by the commands' types; not used

    def __init__(self, address: BrokerAddress, **timeouts: float) -> None:
        self._address, self._timeouts = address, timeouts
        self._connect_lock = threading.Lock()
        self._connected: RedisCluster | None = None

    def execute_command(self, *words: Any, **options: Any) -> Any:
        """Return the reply of the node that has the key."""
        return _raising_connection_errors(lambda: self._cluster().execute_command(*words, **options))

    def ping(self, **_: Any) -> Any:
        """Ping every primary; an unavailable replica is no error."""
        return self.execute_command("PING", target_nodes=RedisCluster.PRIMARIES)

    def server_info(self, key: str, section: str) -> dict[str, Any]:
        """Return a section of INFO from the node that has a key."""
        node = _raising_connection_errors(lambda: self._cluster().get_node_from_key(key))
        info: dict[str, Any] = self.execute_command("INFO", section, target_nodes=node)
        return info

    def pipeline(self, transaction: bool | None = None) -> "_Pipeline":
        """Return a pipeline; a transaction takes only keys of one slot."""
        return _Pipeline(_raising_connection_errors(lambda: self._cluster().pipeline(transaction=transaction)))

    def drop_connections(self) -> None:
        """Drop connections inherited by a fork; the next command connects again."""
        self._connected = None

    def __getattr__(self, name: str) -> Any:
        return getattr(_raising_connection_errors(self._cluster), name)

    def _cluster(self) -> RedisCluster:
        cluster = self._connected
        if cluster is None:
            with self._connect_lock:
                cluster = self._connected = self._connected or self._connect()
        return cluster

    def _connect(self) -> RedisCluster:
        options: dict[str, Any] = {**self._address.options, **self._timeouts}
        return RedisCluster(
            startup_nodes=[ClusterNode(host, port) for host, port in self._address.hosts],
            retry=Retry(NoBackoff(), 0),
            username=self._address.username,
            password=self._address.password,
            ssl=self._address.is_encrypted,
            **options,
        )


class _Pipeline:
    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipeline, name)

    def execute(self) -> Any:
        return _raising_connection_errors(self._pipeline.execute)


def _raising_connection_errors(command: Callable[[], _Reply]) -> _Reply:
    try:
        return command()
    except (RedisClusterException, ClusterError, MovedError, TryAgainError) as error:
        raise Gone(f"the cluster is not available: {error}") from error
