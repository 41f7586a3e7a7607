"""A primary with two replicas, watched by three Sentinels."""

import subprocess

import redis

from adapters.embedded import data_folder
from tests.faults.brokers import nodes

_SERVICE = "finderfee"
_PATIENCE_S = 120
# A primary that says nothing for half a second is gone.
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


class Watched:
    """The installation; `environment` is what a process is told to use it."""

    def __init__(self) -> None:
        self._home = nodes.folder()
        ports = nodes.free_ports(6)
        first = ports[0]
        self._nodes = {
            port: nodes.Node(self._home, port, **({} if port == first else {"replicaof": f"127.0.0.1 {first}"}))
            for port in ports[:3]
        }
        for node in self._nodes.values():
            node.start()
        self._sentinels = [self._watch(port, first) for port in ports[3:]]
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports[3:])
        self.environment = {
            "REDIS_URL": f"redis+sentinel://:{nodes.QUOTED}@{hosts}/{_SERVICE}/0?sentinel_password={nodes.QUOTED}"
        }
        self._ask = redis.Redis(port=ports[3], password=nodes.PASSWORD, socket_timeout=2, protocol=2)
        self.until_whole()

    def until_whole(self) -> None:
        """Wait until the Sentinels know each other and the primary has both its replicas."""
        assert data_folder.wait_until(self._is_whole, timeout_s=_PATIENCE_S), "the Sentinels do not come to agree"

    def lose_primary(self) -> None:
        """Kill the primary, and wait until another one is; then bring the old one back, as its replica."""
        self.until_whole()
        old = self._primary()
        self._nodes[old].kill()
        assert data_folder.wait_until(lambda: self._primary() != old, timeout_s=_PATIENCE_S), "nobody is promoted"
        self._nodes[old].start()

    def demote_primary(self) -> None:
        """Give its place to a replica while it lives: who still speaks to it is refused."""
        self.until_whole()
        old = self._primary()
        self._ask.execute_command("SENTINEL", "FAILOVER", _SERVICE)
        assert data_folder.wait_until(lambda: self._primary() != old, timeout_s=_PATIENCE_S), "nobody is promoted"

    def forget(self) -> None:
        """Lose everything that is carried."""
        self._nodes[self._primary()].client().flushall()

    def buried(self) -> list[bytes]:
        """Return the names of Dramatiq's own dead-letter sets."""
        return list(self._nodes[self._primary()].client().scan_iter("*.XQ*"))

    def close(self) -> None:
        """Stop everything and remove its files."""
        for process in self._sentinels:
            nodes.end(process)
        for node in self._nodes.values():
            node.kill()
        nodes.remove(self._home)

    def _watch(self, port: int, primary: int) -> subprocess.Popen[bytes]:
        folder = self._home / str(port)
        folder.mkdir()
        file = folder / "sentinel.conf"
        file.write_text(
            _SENTINEL.format(port=port, folder=folder, service=_SERVICE, primary=primary, password=nodes.PASSWORD)
        )
        return nodes.launch(file, folder / "log", "--sentinel")

    def _state(self) -> dict[str, str]:
        answer = self._ask.execute_command("SENTINEL", "MASTER", _SERVICE)
        words = list(answer.items()) if isinstance(answer, dict) else zip(answer[::2], answer[1::2], strict=True)
        return {_text(name): _text(value) for name, value in words}

    def _primary(self) -> int:
        return int(self._state()["port"])

    def _is_whole(self) -> bool:
        try:
            state = self._state()
            told = self._nodes[int(state["port"])].client().info("replication")
        except redis.RedisError:
            return False
        replicas = [told[name] for name in ("slave0", "slave1") if name in told]
        is_synced = len(replicas) == 2 and all(replica["state"] == "online" for replica in replicas)
        return state["num-other-sentinels"] == "2" and state["num-slaves"] == "2" and is_synced


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
