"""Creates, starts and stops the PostgreSQL of a data folder, on a unix socket only.

`roles` has the login rules. The caller holds the data folder's lock.
"""

import os
import shlex
import shutil
import signal
import struct
from contextlib import suppress
from pathlib import Path
from subprocess import SubprocessError

from adapters.embedded import data_folder, roles, runners

#: Part of the socket's file name; no TCP port is opened.
PORT = "5432"
# The code of the SSLRequest message, the cheapest request of the frontend protocol.
_TLS_REQUEST = 80877103
_NAME = roles.OWNER  # Both the bootstrap superuser and the database.
# Crash recovery replays at most max_wal_size, which takes well under a minute even on a slow disk.
_START_TIMEOUT_S = 120
# Fast mode ends sessions at once; what remains is writing the final checkpoint.
_STOP_TIMEOUT_S = 60
_ADVICE = (
    "Next: fix the error in the log and start again, or set DATABASE_URL to a PostgreSQL (15 or newer) of your own."
)

# Above Linux's highest pid (2**22), so no process ever has it.
_NO_SUCH_PID = 2**22 + 1
# The kernel's list of shared memory blocks: a header line, then one row per block.
_SHARED_MEMORY = Path("/proc/sysvipc/shm")

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
    # Other pages are read from the system's cache, which costs a copy; memory taken here is never released. A sale
    # costs the server the same with four times this size.
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
# Few small log files make a cluster that is quick to copy.
_CREATED_FOR_TESTS = ("--no-sync", "--wal-segsize=1")


def start(folder: data_folder.DataFolder, *, durable: bool) -> None:
    """Start the server unless it runs, and return once it responds; wait for a starting or stopping one first.

    `durable` is ignored if it runs already. Raises ServerNotStarted, OSError.
    """
    settled = data_folder.wait_until(lambda: is_ready(folder) or not is_running(folder), timeout_s=_START_TIMEOUT_S)
    if is_ready(folder):
        if roles.exist(folder):
            return
        stop(folder)  # It was started by a version that logged in with other roles.
    if not settled:
        raise _failure(folder, f"PostgreSQL neither became ready nor stopped in {_START_TIMEOUT_S} s")
    runner = runners.choose_runner(folder)
    data_folder.rotate_log(folder.postgres_log)
    folder.postgres_log.touch(mode=0o600)
    for path in (folder.sockets, folder.postgres_log, folder.postgres):
        runner.change_owner(path)
    try:
        if not (folder.postgres / "global" / "pg_control").exists():
            _create(folder, runner, durable=durable)
        _replace_recycled_pid(_pid_file(folder))
        if not _await_end(_pid_file(folder), timeout_s=_STOP_TIMEOUT_S):
            raise _failure(folder, f"processes of a killed PostgreSQL still use {folder.postgres}; end them")
        if not roles.exist(folder):
            _create_roles(folder, runner)
        _launch(folder, runner, durable=durable)
    except SubprocessError as error:
        raise _failure(folder, f"PostgreSQL could not be run: {error}") from error


def recover(folder: data_folder.DataFolder) -> None:
    """Start a restored cluster, wait until it has replayed its log, and stop it. Raises ServerNotStarted.

    Replaying the log of days has no time limit: only a server that ends is a failure.
    """
    runner = runners.choose_runner(folder)
    folder.postgres_log.touch(mode=0o600)
    for path in (folder.sockets, folder.postgres_log, folder.postgres):
        runner.change_owner(path)
    try:
        _launch(folder, runner, durable=True, replays=True)
        data_folder.wait_until(lambda: is_running(folder), timeout_s=_START_TIMEOUT_S)
        # If it were stopped before it accepts writes, it would stay on the old timeline and replay past the target at
        # the next start. Without hot standby it becomes ready only when it is done.
        while is_running(folder) and not is_ready(folder):
            data_folder.wait_until(lambda: is_ready(folder), timeout_s=1)
    except SubprocessError as error:
        raise _failure(folder, f"PostgreSQL could not be run: {error}") from error
    if not is_ready(folder) or (folder.postgres / "recovery.signal").exists():
        raise _failure(folder, "PostgreSQL ended before it had replayed the log; the log may end before that time")
    stop(folder)


def stop(folder: data_folder.DataFolder, *, signal_number: signal.Signals = signal.SIGINT) -> None:
    """Stop the server if it runs and wait for its end.

    SIGINT is the fast mode: sessions end, everything committed is written. SIGQUIT is the immediate mode, as after a
    crash. Raises TimeoutError.
    """
    pid = data_folder.listener_pid(folder.postgres_socket)
    if pid is None:
        return
    with suppress(ProcessLookupError):
        os.kill(pid, signal_number)
    # Removing the pid file is the server's last action.
    if not data_folder.wait_until(lambda: not _pid_file(folder).exists(), timeout_s=_STOP_TIMEOUT_S):
        raise TimeoutError(
            f"PostgreSQL (process {pid}) still runs after {_STOP_TIMEOUT_S} s; see {folder.postgres_log}"
        )


def is_running(folder: data_folder.DataFolder) -> bool:
    """Return whether a server listens, even if it is still starting or already stopping."""
    return data_folder.listener_pid(folder.postgres_socket) is not None


def is_ready(folder: data_folder.DataFolder) -> bool:
    """Return whether the server accepts sessions: the eighth line of its pid file is 'ready', and it responds."""
    try:
        lines = _pid_file(folder).read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[7].strip() == "ready" and _responds(folder)


def _responds(folder: data_folder.DataFolder) -> bool:
    """Return whether the server responds to an SSLRequest (with N, for no TLS)."""
    return data_folder.query_listener(folder.postgres_socket, struct.pack("!ii", 8, _TLS_REQUEST)) == b"N"


def _pid_file(folder: data_folder.DataFolder) -> Path:
    return folder.postgres / "postmaster.pid"


def _failure(folder: data_folder.DataFolder, what: str) -> data_folder.ServerNotStarted:
    return data_folder.ServerNotStarted(what, log=folder.postgres_log, advice=_ADVICE)


def _create(folder: data_folder.DataFolder, runner: runners.Runner, *, durable: bool) -> None:
    """Create the cluster with its database in a temporary folder and move it into place when it is complete.

    The next attempt deletes the temporary folder of a killed one.
    """
    if folder.postgres.exists() and any(folder.postgres.iterdir()):
        raise _failure(folder, f"{folder.postgres} holds files but no PostgreSQL; move them away")
    fresh = folder.home / "postgres.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    runner.change_owner(fresh)
    options = ["-U", _NAME, "-A", "trust", "-E", "UTF8", "--locale=C"]
    # The builtin provider sorts by code point on every machine: an index never depends on a system's libc.
    options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", *([] if durable else _CREATED_FOR_TESTS)]
    if not runner.run(["initdb", "-D", str(fresh), *options], log=folder.postgres_log):
        raise _failure(folder, "initdb could not create the database folder")
    if not _run_single_user(
        folder, runner, fresh, f"CREATE DATABASE {_NAME};\n", f"fsync={'on' if durable else 'off'}"
    ):
        raise _failure(folder, f"the database {_NAME} could not be created")
    fresh.rename(folder.postgres)
    _sync(folder.home)


def _create_roles(folder: data_folder.DataFolder, runner: runners.Runner) -> None:
    password = roles.new_password()
    if not _run_single_user(folder, runner, folder.postgres, roles.build_statements(password)):
        raise _failure(folder, "the roles of the database could not be created")
    roles.save_password(folder, password)


def _run_single_user(
    folder: data_folder.DataFolder, runner: runners.Runner, cluster: Path, statements: str, *options: str
) -> bool:
    """Run statements, one per line, in single-user mode; failing statements are not logged."""
    flags = [part for option in ("log_min_error_statement=panic", *options) for part in ("-c", option)]
    command = ["postgres", "--single", "-D", str(cluster), *flags, "postgres"]
    return runner.run(command, log=folder.postgres_log, stdin=statements)


def _launch(folder: data_folder.DataFolder, runner: runners.Runner, *, durable: bool, replays: bool = False) -> None:
    for stale in (folder.postgres_socket, folder.sockets / f"{folder.postgres_socket.name}.lock"):
        stale.unlink(missing_ok=True)  # No server listens there, and the folder is private.
    roles.write_rules(folder.postgres)
    settings = {"unix_socket_directories": str(folder.sockets)} | _ALWAYS | (_DURABLE if durable else _FOR_TESTS)
    if replays:
        settings["hot_standby"] = "off"
    options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())
    waits = ["-W"] if replays else ["-w", "-t", str(_START_TIMEOUT_S)]
    command = ["pg_ctl", "-D", str(folder.postgres), "-s", *waits]
    if not runner.run([*command, "-l", str(folder.postgres_log), "-o", options, "start"], log=folder.postgres_log):
        raise _failure(folder, "PostgreSQL did not start")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _await_end(pid_file: Path, *, timeout_s: float) -> bool:
    """Wait until all processes of the server that left this pid file have ended; return False on timeout.

    When its first process is killed, the others end in their own time. While one of them still uses their shared
    memory, PostgreSQL refuses to start on the same files.
    """
    return data_folder.wait_until(lambda: not _count_users(pid_file), timeout_s=timeout_s)


def _replace_recycled_pid(pid_file: Path) -> None:
    """Replace the pid in a stale pid file if another program has that pid now.

    PostgreSQL would take that program for a running server, as is usual after a container's restart. The rest of the
    file stays, so that PostgreSQL can detect processes of the former server.
    """
    if not pid_file.exists():
        return
    first, _, rest = pid_file.read_text().partition("\n")
    if not first.strip().isdigit():
        pid_file.unlink()  # The server was killed while it wrote the file.
        return
    try:
        program = Path(f"/proc/{first.strip()}/cmdline").read_bytes().split(b"\0")[0]
    except OSError:
        return  # No such process: PostgreSQL detects that itself.
    if not program.endswith(b"/postgres") and not program.startswith(b"postgres"):
        pid_file.write_text(f"{_NO_SUCH_PID}\n{rest}")


def _count_users(pid_file: Path) -> int:
    """Return how many processes use the shared memory named in the pid file's seventh line."""
    try:
        block = pid_file.read_text().splitlines()[6].split()
        rows = [line.split() for line in _SHARED_MEMORY.read_text().splitlines()]
    except (OSError, IndexError):
        return 0  # It had none yet, or it is unknown: PostgreSQL checks itself.
    column = rows[0].index("nattch")
    return sum(int(row[column]) for row in rows[1:] if row[:2] == block)
