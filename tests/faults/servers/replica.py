"""A streaming replica of a data folder's PostgreSQL, which tests can pause, kill and start again."""

import shutil
import signal
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg2

from adapters.embedded import data_folder, postgres_server, runners, server_pair


class Replica:
    """A running replica; `url` is its DATABASE_READ_URL for the service."""

    def __init__(self, home: Path) -> None:
        self._runner = runners.choose_runner(data_folder.resolve(home))
        self._folder = Path(tempfile.mkdtemp(prefix="ff-replica-", dir="/tmp"))
        self._log = self._folder / "log"
        self._cluster = self._folder / "cluster"
        primary = server_pair.build_urls(home)
        at = f"?host={quote(str(self._folder))}&port={postgres_server.PORT}"
        self.url = f"postgresql://{urlsplit(primary.database_url).username}@/finderfee{at}"
        passfile = f"&password=&passfile={quote(str(data_folder.resolve(home).owner_password))}"
        self._owner_url = f"postgresql://{urlsplit(primary.database_owner_url).username}@/finderfee{at}{passfile}"
        self._runner.change_owner(self._folder)
        copy = ["pg_basebackup", "-d", primary.database_owner_url, "-D", str(self._cluster), "-R", "-c", "fast"]
        assert self._runner.run(copy, log=self._log), self._log.read_text()
        self.start()

    def start(self) -> None:
        """Start the server and wait until it responds."""
        settings = {"unix_socket_directories": self._folder, "listen_addresses": "''", "port": postgres_server.PORT}
        settings["max_connections"] = "200"  # a replica must allow as many as its primary
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        command = ["pg_ctl", "-D", str(self._cluster), "-w", "-s", "-l", str(self._log), "-o", options, "start"]
        assert self._runner.run(command, log=self._log), self._log.read_text()

    def kill(self) -> None:
        """Crash the server."""
        self._stop(signal.SIGQUIT)

    def close(self) -> None:
        """Stop the server and remove its files."""
        self._stop(signal.SIGINT)
        shutil.rmtree(self._folder)

    def fetch_value(self, sql: str) -> Any:
        """Run a statement as the owner of the tables and return its value."""
        with closing(psycopg2.connect(self._owner_url)) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()[0]

    def _stop(self, number: signal.Signals) -> None:
        mode = {signal.SIGQUIT: "immediate", signal.SIGINT: "fast"}[number]
        self._runner.run(["pg_ctl", "-D", str(self._cluster), "-w", "-s", "-m", mode, "stop"], log=self._log)
