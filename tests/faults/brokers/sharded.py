"""A cluster: three primaries, each with a replica."""

import redis

from adapters.embedded import data_folder
from tests.faults.brokers import nodes

_PATIENCE_S = 120
_SLOTS = 16_384


class Sharded:
    """The installation; `environment` is what a process is told to use it."""

    def __init__(self) -> None:
        self._home = nodes.folder()
        self._nodes = {
            port: nodes.Node(
                self._home,
                port,
                cluster_enabled="yes",
                cluster_config_file="nodes.conf",
                cluster_node_timeout="1000",
                cluster_require_full_coverage="no",
            )
            for port in nodes.free_ports(6)
        }
        for node in self._nodes.values():
            node.start()
        self._join()
        hosts = ",".join(f"127.0.0.1:{port}" for port in list(self._nodes)[:4])
        self.environment = {"REDIS_URL": f"redis+cluster://:{nodes.QUOTED}@{hosts}"}

    def until_whole(self) -> None:
        """Wait until every node says that all slots are served, and every primary has its replica."""
        assert data_folder.wait_until(self._is_whole, timeout_s=_PATIENCE_S), "the cluster does not come to agree"

    def lose_primary(self) -> None:
        """Kill the primary that has the sales' messages, and wait until its replica is one; then bring it back."""
        self.until_whole()
        key = "{finderfee:sales}"
        old = self._holder(key)
        self._nodes[old].kill()
        other = next(node for port, node in self._nodes.items() if port != old)
        assert data_folder.wait_until(lambda: self._holder(key, ask=other) != old, timeout_s=_PATIENCE_S), (
            "nobody follows"
        )
        self._nodes[old].start()

    def demote_primary(self) -> None:
        """Give the place of the sales' primary to its replica while it lives."""
        self.until_whole()
        old = self._holder("{finderfee:sales}")
        replica = next(
            node
            for port, node in self._nodes.items()
            if port != old and node.client().info("replication").get("master_port") == old
        )
        replica.client().execute_command("CLUSTER", "FAILOVER")
        assert data_folder.wait_until(lambda: self._holder("{finderfee:sales}") != old, timeout_s=_PATIENCE_S)

    def forget(self) -> None:
        """Lose everything that is carried."""
        for node in self._primaries():
            node.client().flushall()

    def buried(self) -> list[bytes]:
        """Return the names of Dramatiq's own dead-letter sets."""
        return [key for node in self._primaries() for key in node.client().scan_iter("*.XQ*")]

    def close(self) -> None:
        """Stop everything and remove its files."""
        for node in self._nodes.values():
            node.kill()
        nodes.remove(self._home)

    def _join(self) -> None:
        ports = list(self._nodes)
        clients = [self._nodes[port].client() for port in ports]
        for port in ports[1:]:
            clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", port)
        for number, client in enumerate(clients[:3]):
            first, last = number * _SLOTS // 3, (number + 1) * _SLOTS // 3 - 1
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
        for client, primary in zip(clients[3:], clients[:3], strict=True):
            name = primary.execute_command("CLUSTER", "MYID")
            assert data_folder.wait_until(lambda c=client, n=name: _follows(c, n), timeout_s=_PATIENCE_S)  # type: ignore[misc]
        self.until_whole()

    def _primaries(self) -> list[nodes.Node]:
        return [node for node in self._nodes.values() if node.client().info("replication")["role"] == "master"]

    def _holder(self, key: str, *, ask: nodes.Node | None = None) -> int:
        client = (ask or next(iter(self._nodes.values()))).client()
        slot = client.execute_command("CLUSTER", "KEYSLOT", key)
        ranges = client.execute_command("CLUSTER", "SLOTS")
        return next(int(primary[1]) for first, last, primary, *_ in ranges if first <= slot <= last)

    def _is_whole(self) -> bool:
        try:
            told = [node.client().execute_command("CLUSTER", "INFO") for node in self._nodes.values()]
            following = [node.client().info("replication") for node in self._primaries()]
        except redis.RedisError:
            return False
        is_served = all(b"cluster_state:ok" in one and f"cluster_slots_ok:{_SLOTS}".encode() in one for one in told)
        return is_served and len(following) == 3 and all(one["connected_slaves"] == 1 for one in following)


def _follows(client: redis.Redis, name: object) -> bool:
    try:
        return bool(client.execute_command("CLUSTER", "REPLICATE", name))
    except redis.ResponseError:  # it has not heard of that one yet
        return False
