"""The servers and processes of a run: a private PostgreSQL and Valkey, and real processes of the product.

Everything is in one temporary folder, which is deleted when the run ends in any way. The processes get only the
environment that is set here and none of the caller's settings.
"""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg2
import redis

import settings
from adapters import servers
from adapters.embedded import data_folder, server_pair
from bench.ground import cpu
from commands.demo import certificate
from models import db, migrate

ROOT = Path(__file__).resolve().parents[2]
_CORES = 2
_START_TIMEOUT_S = 60
# A worker finishes its jobs first, which takes milliseconds here; a supervisor would wait this long too.
_STOP_TIMEOUT_S = 15
_POLL_S = 0.05
_RUN_TIMEOUT_S = 600
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NO_LIMITS = " ".join(f"{bucket}=1000000000" for bucket in ("standard", "s2s", "anonymous_tracking", "anonymous"))


class BenchFailed(Exception):
    """The run cannot continue: the problem, with the end of the logs."""


class Machine:
    """Owns the temporary folder, the two servers and every process of a run; a context manager."""

    def __init__(self) -> None:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])  # inherited by all started processes
        self.home = Path(tempfile.mkdtemp(prefix="finderfee-bench-"))
        self.env: dict[str, str] = {}
        self._running: list[subprocess.Popen[bytes]] = []
        self._servers: server_pair.EmbeddedServers | None = None

    def __enter__(self) -> "Machine":
        try:
            self._servers = _start_servers(self.home)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        former = {number: signal.signal(number, signal.SIG_IGN) for number in STOP_SIGNALS}
        try:
            for process in reversed(self._running):
                _end(process)
            db.db.drop_connection()
            server_pair.stop(self.home)
        finally:
            shutil.rmtree(self.home, ignore_errors=True)
            for number, handler in former.items():
                signal.signal(number, handler)

    def create_database(self, name: str) -> str:
        """Create a migrated database and an empty Valkey, and connect this process and all later ones to them.

        Returns the database's URL; its role owns the tables and sees every tenant.
        """
        assert self._servers is not None
        with owner(self._servers.database_owner_url) as cursor:
            cursor.execute(f"create database {name}")
        url = self._servers.database_owner_url.replace("/finderfee?", f"/{name}?")
        migrate.up(url)
        redis.Redis.from_url(self._servers.redis_url).flushall()
        self.env = self._environment(url, self._servers.redis_url, name)
        os.environ.update(self.env)
        settings.current.cache_clear()
        servers.urls.cache_clear()
        self.connect_to(url)
        return url

    def servers(self) -> dict[str, int]:
        """Return the process ids of both servers of this run."""
        return server_pids(self.home)

    def neighbours(self) -> cpu.Neighbours:
        """Start to measure the use of our cores by other processes."""
        return cpu.Neighbours({"bench": os.getpid(), **self.servers()})

    def connect_to(self, url: str) -> None:
        """Connect this process's pipelines to a database that `create_database` created."""
        db.db.drop_connection()
        db.connect_to(url)

    @contextmanager
    def running(self, name: str, *command: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a program of the virtual environment during the block; its output goes to a log."""
        process = self.start(name, command, environment)
        try:
            yield process
        finally:
            _end(process)
            self._running.remove(process)

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start a program in its own session, so that Ctrl-C reaches it only through us."""
        program, *arguments = command
        with self._log(name).open("ab") as output:
            process = subprocess.Popen(
                [str(Path(sys.executable).parent / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env={**self.env, **environment},
                start_new_session=True,
            )
        self._running.append(process)
        return process

    def wait_for(self, what: str, is_so: Callable[[], bool], *watched: subprocess.Popen[bytes]) -> None:
        """Wait until it is so. Raises BenchFailed when it takes a minute or a watched process dies."""
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not is_so():
            self.check(*watched)
            if time.monotonic() > deadline:
                raise BenchFailed(f"{what} did not happen in {_START_TIMEOUT_S} s{self._logs()}")
            time.sleep(_POLL_S)

    def check(self, *watched: subprocess.Popen[bytes]) -> None:
        """Raise BenchFailed if a process has died."""
        for process in watched:
            if process.poll() is not None:
                raise BenchFailed(f"{process.args!r} ended with {process.returncode}{self._logs()}")

    def certificate(self) -> Path:
        """Return the bundle that trusts the webhook receiver of this run."""
        return certificate.write_bundle(self.home)

    def _environment(self, database_url: str, redis_url: str, name: str) -> dict[str, str]:
        numbers = self.home / "metrics" / name
        numbers.mkdir(parents=True)
        return {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.home),
            "FLASK_APP": "app:create_app",
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "SECRET_KEY": "a key for the benchmark that is long enough",
            "DATA_DIR": str(self.home / "data"),
            "PROMETHEUS_MULTIPROC_DIR": str(numbers),
            "RATE_LIMITS_PER_MIN": _NO_LIMITS,
            "WEBHOOK_ALLOW_PRIVATE": "on",
            "WEBHOOK_CA_BUNDLE": str(self.certificate()),
        }

    def _log(self, name: str) -> Path:
        folder = self.home / "log"
        folder.mkdir(exist_ok=True)
        return folder / f"{name}.txt"

    def _logs(self) -> str:
        lines = []
        for log in sorted((self.home / "log").glob("*.txt")):
            tail = log.read_text(errors="replace").splitlines()[-5:]
            lines += [f"\n{log.name}:", *(f"\n    {line[:300]}" for line in tail)]
        return "".join(lines)


def server_pids(data_dir: Path) -> dict[str, int]:
    """Return the process ids of a data folder's servers; the processes of sessions are their children."""
    place = data_folder.resolve(data_dir)
    sockets = {"postgres": place.postgres_socket, "valkey": place.valkey_socket}
    pids = {name: data_folder.listener_pid(socket) for name, socket in sockets.items()}
    if missing := [name for name, pid in pids.items() if pid is None]:
        raise BenchFailed(f"not running: {missing}")
    return {name: pid for name, pid in pids.items() if pid is not None}


def _start_servers(home: Path) -> server_pair.EmbeddedServers:
    """Start the servers; PostgreSQL records commit times, which are when other sessions see the rows."""
    servers = server_pair.start(home, durable=True)
    with owner(servers.database_owner_url) as cursor:
        cursor.execute("alter system set track_commit_timestamp = on")
    server_pair.stop(home)
    return server_pair.start(home, durable=True)


def run_module(module: str, *arguments: str, given: bytes, env: Mapping[str, str] | None = None) -> bytes:
    """Run one of this package's modules to its end and return its output; `given` is its standard input.

    Raises BenchFailed if it fails; the reason is on standard error.
    """
    result = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        input=given,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=env,
        start_new_session=True,
        timeout=_RUN_TIMEOUT_S,
    )
    if result.returncode:
        raise BenchFailed(f"{module} exited with {result.returncode}")
    return result.stdout


@contextmanager
def owner(url: str) -> Iterator[Any]:
    """Open a cursor of the tables' owner, who sees every tenant; every statement is its own transaction."""
    connection = psycopg2.connect(url)
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            yield cursor
    finally:
        connection.close()


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    """Return whether a program listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def responds(port: int, path: str) -> bool:
    """Return whether a web server responds to a GET with 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process, then kill its whole group."""
    with suppress(ProcessLookupError):
        process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_TIMEOUT_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
