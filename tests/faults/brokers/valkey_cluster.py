"""A broker installation that is a Valkey cluster: three primaries, each with a replica."""

import redis

from adapters.embedded import data_folder
from tests.faults.brokers import nodes

_PATIENCE_S = 120
_SLOTS = 16_384


class ValkeyCluster:
    """A running Valkey cluster; `environment` has the variables of processes that use it."""

    def __init__(self) -> None:
        self._home = nodes.create_folder()
        self._nodes = {
            port: nodes.Node(
                self._home,
                port,
                cluster_enabled="yes",
                cluster_config_file="nodes.conf",
                cluster_node_timeout="1000",
                cluster_require_full_coverage="no",
            )
            for port in nodes.find_free_ports(6)
        }
        for node in self._nodes.values():
            node.start()
        self._join()
        hosts = ",".join(f"127.0.0.1:{port}" for port in list(self._nodes)[:4])
        self.environment = {"REDIS_URL": f"redis+cluster://:{nodes.QUOTED}@{hosts}"}

    def wait_until_healthy(self) -> None:
        """Wait until every node reports that all slots are served, and every primary has its replica."""
        assert data_folder.wait_until(self._is_healthy, timeout_s=_PATIENCE_S), "the cluster does not become healthy"

    def lose_primary(self) -> None:
        """Kill the primary of the sales queue, wait until its replica is promoted, and start the old primary again."""
        self.wait_until_healthy()
        key = "{finderfee:sales}"
        old = self._primary_port(key)
        self._nodes[old].kill()
        other = next(node for port, node in self._nodes.items() if port != old)
        assert data_folder.wait_until(lambda: self._primary_port(key, ask=other) != old, timeout_s=_PATIENCE_S), (
            "no replica is promoted"
        )
        self._nodes[old].start()

    def demote_primary(self) -> None:
        """Promote the replica of the sales queue while its primary is alive."""
        self.wait_until_healthy()
        old = self._primary_port("{finderfee:sales}")
        replica = next(
            node
            for port, node in self._nodes.items()
            if port != old and node.client().info("replication").get("master_port") == old
        )
        replica.client().execute_command("CLUSTER", "FAILOVER")
        assert data_folder.wait_until(lambda: self._primary_port("{finderfee:sales}") != old, timeout_s=_PATIENCE_S)

    def lose_messages(self) -> None:
        """Delete all data."""
        for node in self._primaries():
            node.client().flushall()

    def list_dead_letters(self) -> list[bytes]:
        """Return the keys of Dramatiq's dead letter queues."""
        return [key for node in self._primaries() for key in node.client().scan_iter("*.XQ*")]

    def close(self) -> None:
        """Kill all nodes and remove their files."""
        for node in self._nodes.values():
            node.kill()
        nodes.remove_folder(self._home)

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
            assert data_folder.wait_until(lambda c=client, n=name: _replicate(c, n), timeout_s=_PATIENCE_S)  # type: ignore[misc]
        self.wait_until_healthy()

    def _primaries(self) -> list[nodes.Node]:
        return [node for node in self._nodes.values() if node.client().info("replication")["role"] == "master"]

    def _primary_port(self, key: str, *, ask: nodes.Node | None = None) -> int:
        client = (ask or next(iter(self._nodes.values()))).client()
        slot = client.execute_command("CLUSTER", "KEYSLOT", key)
        ranges = client.execute_command("CLUSTER", "SLOTS")
        return next(int(primary[1]) for first, last, primary, *_ in ranges if first <= slot <= last)

    def _is_healthy(self) -> bool:
        try:
            cluster_info = [node.client().execute_command("CLUSTER", "INFO") for node in self._nodes.values()]
            replication = [node.client().info("replication") for node in self._primaries()]
        except redis.RedisError:
            return False
        is_served = all(
            b"cluster_state:ok" in info and f"cluster_slots_ok:{_SLOTS}".encode() in info for info in cluster_info
        )
        return is_served and len(replication) == 3 and all(info["connected_slaves"] == 1 for info in replication)


def _replicate(client: redis.Redis, name: object) -> bool:
    try:
        return bool(client.execute_command("CLUSTER", "REPLICATE", name))
    except redis.ResponseError:  # the node does not know the primary yet
        return False
