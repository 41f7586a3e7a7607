"""A broker installation that is a Valkey primary with two replicas, monitored by three Sentinels."""

import subprocess

import redis

from adapters.embedded import data_folder
from tests.faults.brokers import nodes

_SERVICE = "finderfee"
_PATIENCE_S = 120
# A primary that does not respond for half a second is considered down.
_SENTINEL = """
port {port}
bind 127.0.0.1
dir {folder}
requirepass "{password}"
sentinel sentinel-pass "{password}"
sentinel monitor {service} 127.0.0.1 {primary} 2
sentinel auth-pass {service} "{password}"
sentinel down-after-milliseconds {service} 500
sentinel failover-timeout {service} 3000
sentinel parallel-syncs {service} 2
"""


class ValkeySentinel:
    """Running servers and Sentinels; `environment` has the variables of processes that use them."""

    def __init__(self) -> None:
        self._home = nodes.create_folder()
        ports = nodes.find_free_ports(6)
        first = ports[0]
        self._nodes = {
            port: nodes.Node(self._home, port, **({} if port == first else {"replicaof": f"127.0.0.1 {first}"}))
            for port in ports[:3]
        }
        for node in self._nodes.values():
            node.start()
        self._sentinels = [self._start_sentinel(port, first) for port in ports[3:]]
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports[3:])
        self.environment = {
            "REDIS_URL": f"redis+sentinel://:{nodes.QUOTED}@{hosts}/{_SERVICE}/0?sentinel_password={nodes.QUOTED}"
        }
        self._sentinel_client = redis.Redis(port=ports[3], password=nodes.PASSWORD, socket_timeout=2, protocol=2)
        self.wait_until_healthy()

    def wait_until_healthy(self) -> None:
        """Wait until the Sentinels know each other and the primary has both replicas."""
        assert data_folder.wait_until(self._is_healthy, timeout_s=_PATIENCE_S), (
            "the installation does not become healthy"
        )

    def lose_primary(self) -> None:
        """Kill the primary, wait until a replica is promoted, and start the old primary again, as a replica."""
        self.wait_until_healthy()
        old = self._primary()
        self._nodes[old].kill()
        assert data_folder.wait_until(lambda: self._primary() != old, timeout_s=_PATIENCE_S), "no replica is promoted"
        self._nodes[old].start()

    def demote_primary(self) -> None:
        """Promote a replica while the primary is alive, which then refuses writes."""
        self.wait_until_healthy()
        old = self._primary()
        self._sentinel_client.execute_command("SENTINEL", "FAILOVER", _SERVICE)
        assert data_folder.wait_until(lambda: self._primary() != old, timeout_s=_PATIENCE_S), "no replica is promoted"

    def lose_messages(self) -> None:
        """Delete all data."""
        self._nodes[self._primary()].client().flushall()

    def list_dead_letters(self) -> list[bytes]:
        """Return the keys of Dramatiq's dead letter queues."""
        return list(self._nodes[self._primary()].client().scan_iter("*.XQ*"))

    def close(self) -> None:
        """Kill all processes and remove their files."""
        for process in self._sentinels:
            nodes.kill_process(process)
        for node in self._nodes.values():
            node.kill()
        nodes.remove_folder(self._home)

    def _start_sentinel(self, port: int, primary: int) -> subprocess.Popen[bytes]:
        folder = self._home / str(port)
        folder.mkdir()
        file = folder / "sentinel.conf"
        file.write_text(
            _SENTINEL.format(port=port, folder=folder, service=_SERVICE, primary=primary, password=nodes.PASSWORD)
        )
        return nodes.launch_valkey(file, folder / "log", "--sentinel")

    def _state(self) -> dict[str, str]:
        answer = self._sentinel_client.execute_command("SENTINEL", "MASTER", _SERVICE)
        fields = list(answer.items()) if isinstance(answer, dict) else zip(answer[::2], answer[1::2], strict=True)
        return {_text(name): _text(value) for name, value in fields}

    def _primary(self) -> int:
        return int(self._state()["port"])

    def _is_healthy(self) -> bool:
        try:
            state = self._state()
            replication = self._nodes[int(state["port"])].client().info("replication")
        except redis.RedisError:
            return False
        replicas = [replication[name] for name in ("slave0", "slave1") if name in replication]
        is_synced = len(replicas) == 2 and all(replica["state"] == "online" for replica in replicas)
        return state["num-other-sentinels"] == "2" and state["num-slaves"] == "2" and is_synced


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
