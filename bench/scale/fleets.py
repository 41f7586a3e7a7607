"""How many processes a fleet needs for a day, and how long its work waits in the worst moment of it.

A process is one core at most: Python's lock lets one thread work at a time. A fleet that answers people must take the
worst moment as it comes; one that works off a queue may fall behind for a while.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bench.scale.demand import STEP_S

#: Who answers people keeps this much of its time free, or they would wait for each other.
_BUSY_MOST = 0.7


@dataclass(frozen=True, slots=True)
class Fleet:
    """Processes of one kind, with the seconds that the unluckiest piece of work waits for one of them."""

    name: str
    processes: int
    threads: int
    longest_wait_s: float


def answering(name: str, cores: Sequence[float], *, threads: int) -> Fleet:
    """Return a fleet that takes every moment as it comes; `cores` is what each step of the day needs."""
    return Fleet(name, max(math.ceil(max(cores) / _BUSY_MOST), 1), threads, 0.0)


def working_off(name: str, cores: Sequence[float], *, threads: int, wait_most_s: float) -> Fleet:
    """Return the smallest fleet whose work never waits longer than that."""
    processes = max(math.ceil(sum(cores) / len(cores)), 1)
    while (waits := longest_wait_s(cores, processes)) > wait_most_s:
        processes += 1
    return Fleet(name, processes, threads, waits)


def longest_wait_s(cores: Sequence[float], processes: int) -> float:
    """Walk through the day with so many processes, and return the longest time that work lay in the queue, in seconds.

    A day that leaves work behind waits for ever: the next one brings as much.
    """
    behind = longest = 0.0
    for needed in cores:
        behind = max(behind + (needed - processes) * STEP_S, 0.0)
        longest = max(longest, behind / processes)
    return longest if not behind else math.inf
