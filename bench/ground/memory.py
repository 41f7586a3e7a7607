"""The memory of processes from the kernel's counters."""

from pathlib import Path

from bench.ground import cpu

_PROC = Path("/proc")


def find_peak_mb(root: int) -> int:
    """Return the most memory in MB that any one of a process and its descendants has had in use; 0 if none exists."""
    pids = [process.pid for process in cpu.list_tree(root, cpu.list_processes())]
    return max((_peak_kb(pid) for pid in pids), default=0) // 1024


def _peak_kb(pid: int) -> int:
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
