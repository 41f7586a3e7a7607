"""The processes that a fleet needs for a day, and the longest wait of its work.

A process uses at most one core, because of Python's lock. A fleet that serves requests needs capacity for the busiest
step; one that processes a queue may fall behind for a while.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bench.scale.demand import STEP_S

#: The maximum utilization of a process that serves requests; above it they would queue.
_MAX_UTILIZATION = 0.7


@dataclass(frozen=True, slots=True)
class Fleet:
    """Processes of one kind, with the longest wait of their work in seconds."""

    name: str
    processes: int
    threads: int
    longest_wait_s: float


def size_serving(name: str, cores: Sequence[float], *, threads: int) -> Fleet:
    """Return a fleet with capacity for the busiest step; `cores` are the cores needed in each step."""
    return Fleet(name, max(math.ceil(max(cores) / _MAX_UTILIZATION), 1), threads, 0.0)


def size_queue(name: str, cores: Sequence[float], *, threads: int, max_wait_s: float) -> Fleet:
    """Return the smallest fleet whose work never waits longer than `max_wait_s`."""
    processes = max(math.ceil(sum(cores) / len(cores)), 1)
    while (waits := longest_wait_s(cores, processes)) > max_wait_s:
        processes += 1
    return Fleet(name, processes, threads, waits)


def longest_wait_s(cores: Sequence[float], processes: int) -> float:
    """Simulate the day with a number of processes; return the longest time that work waits in the queue, in seconds.

    It is infinite if work is left at the end of the day: the next day brings as much.
    """
    behind = longest = 0.0
    for needed in cores:
        behind = max(behind + (needed - processes) * STEP_S, 0.0)
        longest = max(longest, behind / processes)
    return longest if not behind else math.inf
