"""A PgBouncer with few connections, in transaction mode, in front of an installation's PostgreSQL."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from adapters.embedded import data_folder, runners
from tests.support.installation.backing_servers import PATIENCE_S

#: The path of the program; None if it is not installed.
PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")

_SETTINGS = """
[databases]
{database} = host={sockets} port={port} dbname={database} user={login}
[pgbouncer]
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 500
query_wait_timeout = {wait_s}
server_login_retry = 1
logfile = {folder}/log
"""


class PgBouncer:
    """A running PgBouncer; `environment` has the variables of processes that use it."""

    def __init__(self, home: Path, database_url: str, *, size: int, wait_s: int = 120) -> None:
        # Like PostgreSQL it refuses to run as root, and it needs access to the socket of PostgreSQL.
        self._runner = runners.choose_runner(data_folder.resolve(home))
        url = urlsplit(database_url)
        query = parse_qs(url.query)
        self._folder = Path(tempfile.mkdtemp(prefix="ff-pool-", dir="/tmp"))
        settings = self._folder / "pgbouncer.ini"
        databases = {"database": url.path[1:], "login": url.username, "port": query.get("port", ["5432"])[0]}
        limits = {"size": size, "wait_s": wait_s}
        settings.write_text(
            _SETTINGS.format(folder=self._folder, sockets=query["host"][0], **limits, **databases), encoding="utf-8"
        )
        self.environment = {
            "DATABASE_URL": f"postgresql://{url.username}@{url.path}?host={self._folder}&port=6432",
            "DATABASE_POOL": "transaction",
        }
        self._process = self._start()

    def crash(self) -> None:
        """Kill it with all its connections, and start it again."""
        self._process.kill()
        self._process.wait()
        self._process = self._start()

    def close(self) -> None:
        """Stop PgBouncer and remove its files."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()
        shutil.rmtree(self._folder)

    def _start(self) -> subprocess.Popen[bytes]:
        assert PROGRAM is not None
        self._runner.change_owner(self._folder)
        socket = self._folder / ".s.PGSQL.6432"
        socket.unlink(missing_ok=True)
        process = subprocess.Popen(
            [PROGRAM, "--quiet", str(self._folder / "pgbouncer.ini")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"]},
            preexec_fn=self._runner.enter,
        )
        assert data_folder.wait_until(socket.exists, timeout_s=PATIENCE_S), "PgBouncer did not start"
        return process
