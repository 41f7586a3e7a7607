"""The embedded servers die under `make run`: they are started again, and it says so."""

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


class _Kept:
    """A data folder whose servers are kept running."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.urls = server_pair.start(home)
        self._log = home / "keeper.out"
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

    def until_said(self, *lines: str, times: int = 1) -> None:
        is_said = data_folder.wait_until(
            lambda: all(self.said().count(line) >= times for line in lines), timeout_s=PATIENCE_S
        )
        assert is_said, f"{lines} of: {self.said()}"

    def said(self) -> str:
        return self._log.read_text()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[_Kept]:
    """Servers that are kept running."""
    made = _Kept(tmp_path)
    yield made
    made.process.kill()
    server_pair.stop(tmp_path)


def _count(kept: _Kept) -> int:
    connection = psycopg2.connect(kept.urls.database_owner_url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("select count(*) from sale")
            return int(cursor.fetchone()[0])
    finally:
        connection.close()


def test_killed_postgresql_restarts_with_committed_data(kept: _Kept) -> None:
    connection = psycopg2.connect(kept.urls.database_owner_url)
    with connection, connection.cursor() as cursor:  # this session lives on while the server under it is killed
        cursor.execute("create table sale as select generate_series(1, 50)")

    former = kept.kill("PostgreSQL")

    kept.until_said("PostgreSQL has stopped; restarting it", "PostgreSQL is running again (process ")
    assert kept.pid("PostgreSQL") not in (None, former)
    assert _count(kept) == 50
    assert "Valkey" not in kept.said()


def test_killed_valkey_restarts_with_acknowledged_data(kept: _Kept) -> None:
    with redis.Redis.from_url(kept.urls.redis_url) as client:
        for number in range(2_000):
            client.xadd("clicks", {"number": number})

        former = kept.kill("Valkey")

    # A power cut may cost the last second; a killed process had given what it answered to the kernel.
    kept.until_said("Valkey has stopped; restarting it", "Valkey is running again (process ")
    assert kept.pid("Valkey") not in (None, former)
    with redis.Redis.from_url(kept.urls.redis_url) as client:
        assert client.xlen("clicks") == 2_000


def test_servers_restart_after_every_kill(kept: _Kept) -> None:
    for said in (2, 4):
        kept.kill("Valkey")
        kept.kill("PostgreSQL")
        kept.until_said("is running again", times=said)

    assert kept.said().count("PostgreSQL is running again") == 2
    assert kept.said().count("Valkey is running again") == 2


def test_failed_server_start_is_retried(kept: _Kept) -> None:
    version = kept.home / "postgres" / "PG_VERSION"
    written = version.read_text()
    version.write_text("9\n")

    kept.kill("PostgreSQL")
    kept.until_said("PostgreSQL did not start\n", "The next attempt is in 1 s.")
    version.write_text(written)

    kept.until_said("PostgreSQL is running again (process ")


def test_failed_server_start_delays_no_other_server(kept: _Kept) -> None:
    version = kept.home / "postgres" / "PG_VERSION"
    written = version.read_text()
    version.write_text("9\n")

    kept.process.pause()
    kept.kill("Valkey")
    kept.kill("PostgreSQL")
    kept.process.resume()

    kept.until_said("PostgreSQL did not start\n", "The next attempt is in 1 s.", "Valkey is running again (process ")
    version.write_text(written)
    kept.until_said("PostgreSQL is running again (process ")


def test_ended_supervisor_leaves_the_servers_running(kept: _Kept) -> None:
    kept.kill("Valkey")
    kept.until_said("Valkey is running again (process ")

    kept.process.terminate()

    assert kept.process.wait() == 0
    assert server_pair.status(kept.home) == {"postgres": "running", "valkey": "running"}
