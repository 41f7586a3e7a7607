"""CPU time of processes from the kernel's counters, which do not include the time that a process waits for a core.

A busy machine makes work slower but hardly costs more CPU time, so this varies less than wall-clock time.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
# Fields of a process's line, counted from after its name, which may contain anything.
_PARENT, _FIRST_TIME, _TIMES = 1, 11, 4
# Fields of a core's line: idle, and idle during disk I/O. The fields after the eighth are included in the first two.
_IDLE, _COUNTED = (3, 4), 8


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """A process, its parent, and the CPU seconds of it and of its children that exited and were waited for."""

    pid: int
    parent: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Capacity:
    """CPU seconds of some cores since boot: in total, and used by any process."""

    seconds: float
    used: float


def parse_process(line: str) -> ProcessTime:
    """Parse a line of /proc/PID/stat."""
    pid, _, rest = line.partition(" (")
    fields = rest.rpartition(") ")[2].split()
    times = fields[_FIRST_TIME : _FIRST_TIME + _TIMES]
    return ProcessTime(int(pid), int(fields[_PARENT]), sum(map(int, times)) / _TICKS_PER_S)


def parse_cores(lines: str, cores: Iterable[int]) -> Capacity:
    """Parse /proc/stat; time that a hypervisor gave to other guests counts as used."""
    names = {f"cpu{core}" for core in cores}
    counted = [
        [int(ticks) for ticks in rest.split()[:_COUNTED]]
        for name, _, rest in (line.partition(" ") for line in lines.splitlines())
        if name in names
    ]
    ticks = sum(map(sum, counted))
    idle = sum(core[place] for core in counted for place in _IDLE)
    return Capacity(ticks / _TICKS_PER_S, (ticks - idle) / _TICKS_PER_S)


def tree_seconds(root: int, processes: Iterable[ProcessTime]) -> float:
    """Return the CPU seconds of a process and its descendants, including exited ones; 0 if it does not exist."""
    return sum(process.seconds for process in list_tree(root, processes))


def list_tree(root: int, processes: Iterable[ProcessTime]) -> list[ProcessTime]:
    """Return a process and its descendants, [] if it does not exist."""
    listed = list(processes)
    children: dict[int, list[ProcessTime]] = {}
    for process in listed:
        children.setdefault(process.parent, []).append(process)
    waiting = [process for process in listed if process.pid == root]
    descendants = []
    while waiting:
        descendants.append(process := waiting.pop())
        waiting += children.get(process.pid, [])
    return descendants


def trees_seconds(roots: Mapping[str, int]) -> dict[str, float]:
    """Return the CPU seconds of each named process tree so far."""
    processes = list_processes()
    return {name: tree_seconds(pid, processes) for name, pid in roots.items()}


class Neighbours:
    """CPU use of this process's cores by processes outside our own trees, since this object's creation."""

    def __init__(self, ours: Mapping[str, int]) -> None:
        self._own_trees = ours
        self._began = self._now()

    def share(self) -> float:
        """Return their share of the cores' time so far, 0 to 1."""
        (capacity, ours), (capacity_then, ours_then) = self._now(), self._began
        return share_of_others(capacity_then, capacity, ours=ours - ours_then)

    def _now(self) -> tuple[Capacity, float]:
        cores = parse_cores((_PROC / "stat").read_text(), os.sched_getaffinity(0))
        return cores, sum(trees_seconds(self._own_trees).values())


def share_of_others(before: Capacity, after: Capacity, *, ours: float) -> float:
    """Return the share of the time between two readings, 0 to 1, that was used, without our own `ours` seconds."""
    total = after.seconds - before.seconds
    others = after.used - before.used - ours
    return min(max(others / total, 0.0), 1.0) if total > 0 else 0.0


def list_processes() -> list[ProcessTime]:
    """Return every process of this machine."""
    processes = []
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            try:
                processes.append(parse_process((folder / "stat").read_text(errors="replace")))
            except (FileNotFoundError, ProcessLookupError):
                continue  # It has exited, and its parent's line includes its time.
    return processes
