"""The embedded servers are killed under `make run`: the watchdog starts them again, and logs it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest
import redis

from adapters.embedded import data_folder, server_pair
from tests.support.installation.backing_servers import PATIENCE_S
from tests.support.installation.processes import Process

_SOCKETS = {"PostgreSQL": "postgres_socket", "Valkey": "valkey_socket"}


class _WatchedServers:
    """A data folder whose servers the watchdog keeps running."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.urls = server_pair.start(home)
        self._log = home / "watchdog.out"
        command = ["python", "-m", "adapters.embedded.watchdog", str(home), "postgres", "valkey"]
        environment = {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1"}
        self.process = Process("servers", command, env=environment, log=self._log)

    def pid(self, title: str) -> int | None:
        return data_folder.listener_pid(getattr(data_folder.resolve(self.home), _SOCKETS[title]))

    def kill(self, title: str) -> int:
        """SIGKILL a server and return its process id."""
        pid = self.pid(title)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        return pid

    def wait_for_log(self, *lines: str, times: int = 1) -> None:
        is_logged = data_folder.wait_until(
            lambda: all(self.log().count(line) >= times for line in lines), timeout_s=PATIENCE_S
        )
        assert is_logged, f"{lines} not in: {self.log()}"

    def log(self) -> str:
        return self._log.read_text()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[_WatchedServers]:
    """Return a data folder with servers that the watchdog keeps running."""
    servers = _WatchedServers(tmp_path)
    yield servers
    servers.process.kill()
    server_pair.stop(tmp_path)


def _count_sales(servers: _WatchedServers) -> int:
    connection = psycopg2.connect(servers.urls.database_owner_url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("select count(*) from sale")
            return int(cursor.fetchone()[0])
    finally:
        connection.close()


def test_killed_postgresql_restarts_with_committed_data(servers: _WatchedServers) -> None:
    connection = psycopg2.connect(servers.urls.database_owner_url)
    with connection, connection.cursor() as cursor:  # this session stays open while the server is killed
        cursor.execute("create table sale as select generate_series(1, 50)")

    old_pid = servers.kill("PostgreSQL")

    servers.wait_for_log("PostgreSQL has stopped; restarting it", "PostgreSQL is running again (process ")
    assert servers.pid("PostgreSQL") not in (None, old_pid)
    assert _count_sales(servers) == 50
    assert "Valkey" not in servers.log()


def test_killed_valkey_restarts_with_acknowledged_data(servers: _WatchedServers) -> None:
    with redis.Redis.from_url(servers.urls.redis_url) as client:
        for number in range(2_000):
            client.xadd("clicks", {"number": number})

        old_pid = servers.kill("Valkey")

    # A power cut may lose the last second, but a killed process has passed acknowledged writes to the kernel.
    servers.wait_for_log("Valkey has stopped; restarting it", "Valkey is running again (process ")
    assert servers.pid("Valkey") not in (None, old_pid)
    with redis.Redis.from_url(servers.urls.redis_url) as client:
        assert client.xlen("clicks") == 2_000


def test_servers_restart_after_every_kill(servers: _WatchedServers) -> None:
    for restarts in (2, 4):
        servers.kill("Valkey")
        servers.kill("PostgreSQL")
        servers.wait_for_log("is running again", times=restarts)

    assert servers.log().count("PostgreSQL is running again") == 2
    assert servers.log().count("Valkey is running again") == 2


def test_failed_server_start_is_retried(servers: _WatchedServers) -> None:
    version = servers.home / "postgres" / "PG_VERSION"
    content = version.read_text()
    version.write_text("9\n")

    servers.kill("PostgreSQL")
    servers.wait_for_log("PostgreSQL did not start\n", "The next attempt is in 1 s.")
    version.write_text(content)

    servers.wait_for_log("PostgreSQL is running again (process ")


def test_failed_server_start_delays_no_other_server(servers: _WatchedServers) -> None:
    version = servers.home / "postgres" / "PG_VERSION"
    content = version.read_text()
    version.write_text("9\n")

    servers.process.pause()
    servers.kill("Valkey")
    servers.kill("PostgreSQL")
    servers.process.resume()

    servers.wait_for_log(
        "PostgreSQL did not start\n", "The next attempt is in 1 s.", "Valkey is running again (process "
    )
    version.write_text(content)
    servers.wait_for_log("PostgreSQL is running again (process ")


def test_ended_supervisor_leaves_the_servers_running(servers: _WatchedServers) -> None:
    servers.kill("Valkey")
    servers.wait_for_log("Valkey is running again (process ")

    servers.process.terminate()

    assert servers.process.wait() == 0
    assert server_pair.status(servers.home) == {"postgres": "running", "valkey": "running"}
