"""The client of a cluster, made at its first command: redis-py's own asks the nodes as soon as it exists.

A cluster that is about to decide who serves a slot is away for that moment, and says so as a lost connection: whoever
works with one server that comes and goes works with a cluster. No command is repeated but where a node refused it.
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

_Answer = TypeVar("_Answer")


class ClusterClient(RedisClusterCommands):
    """Answers the commands that a client of one server answers. Raises RedisError alone."""

    _event_dispatcher: Any = None  # the commands' own types ask for it; it serves what nobody here uses

    def __init__(self, address: BrokerAddress, **timeouts: float) -> None:
        self._address, self._timeouts = address, timeouts
        self._making = threading.Lock()
        self._made: RedisCluster | None = None

    def execute_command(self, *words: Any, **options: Any) -> Any:
        """Return what the node that has the key answers."""
        return _as_lost(lambda: self._cluster().execute_command(*words, **options))

    def ping(self, **_: Any) -> Any:
        """Ask every primary whether it is there; a replica that is away hinders nobody."""
        return self.execute_command("PING", target_nodes=RedisCluster.PRIMARIES)

    def info_beside(self, key: str, section: str) -> dict[str, Any]:
        """Return what the node that has a key says of itself."""
        node = _as_lost(lambda: self._cluster().get_node_from_key(key))
        found: dict[str, Any] = self.execute_command("INFO", section, target_nodes=node)
        return found

    def pipeline(self, transaction: bool | None = None) -> "_Pipeline":
        """Return commands that are sent together; as a transaction those on keys of one slot alone."""
        return _Pipeline(_as_lost(lambda: self._cluster().pipeline(transaction=transaction)))

    def forget_connections(self) -> None:
        """Ask the nodes anew, on connections of this process."""
        self._made = None

    def __getattr__(self, name: str) -> Any:
        return getattr(_as_lost(self._cluster), name)

    def _cluster(self) -> RedisCluster:
        made = self._made
        if made is None:
            with self._making:
                made = self._made = self._made or self._make()
        return made

    def _make(self) -> RedisCluster:
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
    def __init__(self, made: Any) -> None:
        self._made = made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def execute(self) -> Any:
        return _as_lost(self._made.execute)


def _as_lost(ask: Callable[[], _Answer]) -> _Answer:
    try:
        return ask()
    except (RedisClusterException, ClusterError, MovedError, TryAgainError) as error:
        raise Gone(f"the cluster is not there: {error}") from error
