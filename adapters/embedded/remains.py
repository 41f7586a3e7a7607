"""What a PostgreSQL that was killed leaves behind, and when that is no obstacle to the next one."""

from pathlib import Path

from adapters.embedded import places

# Above the highest pid that Linux can give (2**22), so no process ever has it.
_NO_SUCH_PID = 2**22 + 1
# A row for each block of shared memory, under a line of titles; the kernel's, as ipcs reads it.
_SHARED_MEMORY = Path("/proc/sysvipc/shm")


def await_end(pid_file: Path, *, timeout_s: float) -> bool:
    """Wait until no process of the server that left this pid file lives; returns False if one still does.

    When the first of its processes is killed the others notice it and end, each in its own time. Until the last of
    them has let go of the memory that they shared, PostgreSQL refuses to start on the same files.
    """
    return places.wait_until(lambda: not _users(pid_file), timeout_s=timeout_s)


def disown_recycled_pid(pid_file: Path) -> None:
    """Make a left-over pid file harmless whose pid now belongs to some other program.

    PostgreSQL would take that program for itself, which is the rule after a restart of a container. Only the pid is
    replaced: the rest lets PostgreSQL find out whether parts of the former server still use the files.
    """
    if not pid_file.exists():
        return
    first, _, rest = pid_file.read_text().partition("\n")
    if not first.strip().isdigit():
        pid_file.unlink()  # Killed while it was being written.
        return
    try:
        program = Path(f"/proc/{first.strip()}/cmdline").read_bytes().split(b"\0")[0]
    except OSError:
        return  # No such process: PostgreSQL notices that itself.
    if not program.endswith(b"/postgres") and not program.startswith(b"postgres"):
        pid_file.write_text(f"{_NO_SUCH_PID}\n{rest}")


def _users(pid_file: Path) -> int:
    """Return how many processes use the memory whose key and id are the pid file's seventh line."""
    try:
        block = pid_file.read_text().splitlines()[6].split()
        rows = [line.split() for line in _SHARED_MEMORY.read_text().splitlines()]
    except (OSError, IndexError):
        return 0  # It had none yet, or nobody can say: PostgreSQL finds out itself.
    place_of = rows[0].index("nattch")
    return sum(int(row[place_of]) for row in rows[1:] if row[:2] == block)
