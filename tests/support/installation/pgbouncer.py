"""A PgBouncer that lends its few connections by the transaction, before a machine's PostgreSQL."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from adapters.embedded import data_folder, runners
from tests.support.installation.backing_servers import PATIENCE_S

#: Where Debian's package has it; None where it is not installed.
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
    """One running PgBouncer: `environment` is what a process is told to work behind it."""

    def __init__(self, home: Path, database_url: str, *, size: int, wait_s: int = 120) -> None:
        # It refuses to be root as PostgreSQL does, and has to reach that one's socket.
        self._runner = runners.choose_runner(data_folder.resolve(home))
        url = urlsplit(database_url)
        asked = parse_qs(url.query)
        self._folder = Path(tempfile.mkdtemp(prefix="ff-pool-", dir="/tmp"))
        settings = self._folder / "pgbouncer.ini"
        databases = {"database": url.path[1:], "login": url.username, "port": asked.get("port", ["5432"])[0]}
        limits = {"size": size, "wait_s": wait_s}
        settings.write_text(
            _SETTINGS.format(folder=self._folder, sockets=asked["host"][0], **limits, **databases), encoding="utf-8"
        )
        self.environment = {
            "DATABASE_URL": f"postgresql://{url.username}@{url.path}?host={self._folder}&port=6432",
            "DATABASE_POOL": "transaction",
        }
        self._process = self._start()

    def crash(self) -> None:
        """Kill it, with every connection to it and from it, and start it again."""
        self._process.kill()
        self._process.wait()
        self._process = self._start()

    def close(self) -> None:
        """Stop it and remove its files."""
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
        assert data_folder.wait_until(socket.exists, timeout_s=PATIENCE_S), "PgBouncer does not start"
        return process
