"""Creates, starts and stops the PostgreSQL of a data folder, on a unix socket only.

Who may log in is said in embedded_roles. The caller holds the data folder's lock.
"""

import os
import shlex
import shutil
import signal
import struct
from contextlib import suppress
from pathlib import Path
from subprocess import SubprocessError

from adapters.embedded import places, remains, roles, runners

#: It names the socket; nobody listens on it as a port.
PORT = "5432"
# The code that the frontend protocol gives to this question, the cheapest one there is.
_TLS_REQUEST = 80877103
_NAME = roles.OWNER  # Both the bootstrap superuser and the database.
# Crash recovery replays up to max_wal_size, which takes well under a minute on a slow disk.
_START_TIMEOUT_S = 120
# Fast mode ends sessions at once; what remains is writing the final checkpoint.
_STOP_TIMEOUT_S = 60
_ADVICE = "Correct what the log says and start again, or set DATABASE_URL to a PostgreSQL (15 or newer) of your own."

_ALWAYS = {
    "listen_addresses": "",
    "port": PORT,
    "unix_socket_permissions": "0700",
    # (web workers x threads) + (job processes x threads) + scheduler + relay + an operator's psql, with room.
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    # A refused insert is daily business, and its statement would carry personal data into the log.
    "log_min_error_statement": "panic",
    # Short statements only: compiling them costs more than it saves.
    "jit": "off",
    # Solid-state disks: a random page costs hardly more than the next one.
    "random_page_cost": "1.1",
}
_DURABLE = {
    # What is not in here is in the system's cache, at the price of a copy; here it would be ours for good. A sale costs
    # the server no more with these than with four times as many.
    "shared_buffers": "32MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # Fewer checkpoints, so fewer full page images; replaying 2 GB stays within the start's time limit.
    "max_wal_size": "2GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "on",
}
_FOR_TESTS = {
    "shared_buffers": "64MB",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    # No replicas, so the copying of template databases need not be logged.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "1GB",
    "min_wal_size": "2MB",
    "autovacuum": "off",
}
# Small files, of which few are kept, make a cluster that is quickly copied.
_CREATED_FOR_TESTS = ("--no-sync", "--wal-segsize=1")


def start(place: places.Place, *, durable: bool) -> None:
    """Return once the server answers: reuse a running one, wait for a starting or stopping one, else start it.

    `durable` is ignored when it runs already. Raises DidNotStart, OSError.
    """
    settled = places.wait_until(lambda: is_ready(place) or not is_running(place), timeout_s=_START_TIMEOUT_S)
    if is_ready(place):
        if roles.are_made(place):
            return
        stop(place)  # It was started before this version, which logs in as others.
    if not settled:
        raise _failed(place, f"PostgreSQL neither became ready nor stopped in {_START_TIMEOUT_S} s")
    runner = runners.choose(place)
    places.shorten(place.postgres_log)
    place.postgres_log.touch(mode=0o600)
    for path in (place.sockets, place.postgres_log, place.postgres):
        runner.own(path)
    try:
        if not (place.postgres / "global" / "pg_control").exists():
            _create(place, runner, durable=durable)
        remains.disown_recycled_pid(_pid_file(place))
        if not remains.await_end(_pid_file(place), timeout_s=_STOP_TIMEOUT_S):
            raise _failed(place, f"processes of a killed PostgreSQL still use {place.postgres}; end them")
        if not roles.are_made(place):
            _make_roles(place, runner)
        _launch(place, runner, durable=durable)
    except SubprocessError as error:
        raise _failed(place, f"PostgreSQL could not be run: {error}") from error


def recover(place: places.Place) -> None:
    """Let a cluster that was put in its place replay its log to where it is told to, and stop it. Raises DidNotStart.

    A restore reads the log of days, which takes as long as it takes: only a server that ends is a failure.
    """
    runner = runners.choose(place)
    place.postgres_log.touch(mode=0o600)
    for path in (place.sockets, place.postgres_log, place.postgres):
        runner.own(path)
    try:
        _launch(place, runner, durable=True, replays=True)
        places.wait_until(lambda: is_running(place), timeout_s=_START_TIMEOUT_S)
        # Stopped before it takes writes it would still be on the old timeline, and go past the moment when it starts
        # again. Nobody reads it meanwhile, so it is ready when it is done and not before.
        while is_running(place) and not is_ready(place):
            places.wait_until(lambda: is_ready(place), timeout_s=1)
    except SubprocessError as error:
        raise _failed(place, f"PostgreSQL could not be run: {error}") from error
    if not is_ready(place) or (place.postgres / "recovery.signal").exists():
        raise _failed(place, "PostgreSQL ended before it had replayed the log; it may not reach that moment")
    stop(place)


def stop(place: places.Place, *, how: signal.Signals = signal.SIGINT) -> None:
    """Stop the server if it runs and wait for its end.

    SIGINT is the fast mode: sessions end, everything committed is written. SIGQUIT is the immediate mode, as after a
    crash. Raises TimeoutError.
    """
    pid = places.listener_pid(place.postgres_socket)
    if pid is None:
        return
    with suppress(ProcessLookupError):
        os.kill(pid, how)
    # The server removes its pid file as the last thing it does.
    if not places.wait_until(lambda: not _pid_file(place).exists(), timeout_s=_STOP_TIMEOUT_S):
        raise TimeoutError(f"PostgreSQL (process {pid}) still runs after {_STOP_TIMEOUT_S} s; see {place.postgres_log}")


def is_running(place: places.Place) -> bool:
    """Return whether a server listens, be it still starting or already stopping."""
    return places.listener_pid(place.postgres_socket) is not None


def is_ready(place: places.Place) -> bool:
    """Return whether the server takes sessions: its pid file's eighth line says so, and it answers."""
    try:
        lines = _pid_file(place).read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[7].strip() == "ready" and _answers(place)


def _answers(place: places.Place) -> bool:
    """Return whether the server answers: asked whether it speaks TLS, it says that it does not."""
    return places.ask(place.postgres_socket, struct.pack("!ii", 8, _TLS_REQUEST)) == b"N"


def _pid_file(place: places.Place) -> Path:
    return place.postgres / "postmaster.pid"


def _failed(place: places.Place, what: str) -> places.DidNotStart:
    return places.DidNotStart(what, log=place.postgres_log, advice=_ADVICE)


def _create(place: places.Place, runner: runners.Runner, *, durable: bool) -> None:
    """Create the cluster with its database beside its place and move it there when it is complete.

    What a kill leaves behind is in the folder beside and is swept away by the next attempt.
    """
    if place.postgres.exists() and any(place.postgres.iterdir()):
        raise _failed(place, f"{place.postgres} holds files but no PostgreSQL; move them away")
    fresh = place.home / "postgres.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    runner.own(fresh)
    options = ["-U", _NAME, "-A", "trust", "-E", "UTF8", "--locale=C"]
    # The builtin provider sorts by code point on every machine: an index never depends on a system's libc.
    options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", *([] if durable else _CREATED_FOR_TESTS)]
    if not runner.run(["initdb", "-D", str(fresh), *options], log=place.postgres_log):
        raise _failed(place, "initdb could not create the database folder")
    if not _run_alone(place, runner, fresh, f"CREATE DATABASE {_NAME};\n", f"fsync={'on' if durable else 'off'}"):
        raise _failed(place, f"the database {_NAME} could not be created")
    fresh.rename(place.postgres)
    _sync(place.home)


def _make_roles(place: places.Place, runner: runners.Runner) -> None:
    password = roles.new_password()
    if not _run_alone(place, runner, place.postgres, roles.statements(password)):
        raise _failed(place, "the roles of the database could not be made")
    roles.keep(place, password)


def _run_alone(place: places.Place, runner: runners.Runner, cluster: Path, statements: str, *options: str) -> bool:
    """Run statements, one a line, in a cluster without a server; of those that fail nothing is kept in the log."""
    chosen = [part for option in ("log_min_error_statement=panic", *options) for part in ("-c", option)]
    single = ["postgres", "--single", "-D", str(cluster), *chosen, "postgres"]
    return runner.run(single, log=place.postgres_log, stdin=statements)


def _launch(place: places.Place, runner: runners.Runner, *, durable: bool, replays: bool = False) -> None:
    for stale in (place.postgres_socket, place.sockets / f"{place.postgres_socket.name}.lock"):
        stale.unlink(missing_ok=True)  # Nobody listens there, and the folder is ours alone.
    roles.rule(place.postgres)
    settings = {"unix_socket_directories": str(place.sockets)} | _ALWAYS | (_DURABLE if durable else _FOR_TESTS)
    if replays:
        settings["hot_standby"] = "off"
    options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())
    waits = ["-W"] if replays else ["-w", "-t", str(_START_TIMEOUT_S)]
    command = ["pg_ctl", "-D", str(place.postgres), "-s", *waits]
    if not runner.run([*command, "-l", str(place.postgres_log), "-o", options, "start"], log=place.postgres_log):
        raise _failed(place, "PostgreSQL did not start")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
