"""CPU time of processes, parsed from the kernel's files."""

import os

import pytest

from bench.ground import cpu
from bench.ground.cpu import Capacity, ProcessTime

_TICKS = os.sysconf("SC_CLK_TCK")
# Seconds per core: user, nice, system, idle, I/O wait, hard and soft interrupts, stolen, and two of guests.
_CORES = {
    "cpu": [9, 9, 9, 9, 9, 9, 9, 9, 9, 9],
    "cpu0": [10, 2, 3, 70, 5, 1, 2, 7, 4, 0],
    "cpu1": [1, 0, 0, 99, 0, 0, 0, 0, 0, 0],
    "cpu10": [50, 0, 0, 50, 0, 0, 0, 0, 0, 0],
    "intr": [12_345, 6],
}


@pytest.mark.parametrize("name", ["postgres", "a name (with) brackets", "1 2 3 4 5 6 7 8 9) R 8"])
def test_process_time_includes_its_finished_children(name):
    line = f"4321 ({name}) S 17 4321 4321 0 -1 4194304 1 2 3 4 {3 * _TICKS} {_TICKS} {5 * _TICKS} {2 * _TICKS} 20 0 1"

    assert cpu.parse_process(line) == ProcessTime(pid=4321, parent=17, seconds=11.0)


def test_only_requested_cores_are_read_and_guest_time_counts_once():
    lines = "".join(
        f"{name} {' '.join(str(second * _TICKS) for second in seconds)}\n" for name, seconds in _CORES.items()
    )

    assert cpu.parse_cores(lines, [0]) == Capacity(seconds=100.0, used=25.0)
    assert cpu.parse_cores(lines, [0, 1]) == Capacity(seconds=200.0, used=26.0)
    assert cpu.parse_cores(lines, [10]) == Capacity(seconds=100.0, used=50.0)


def test_tree_time_includes_all_descendants():
    processes = [
        ProcessTime(1, 0, 100.0),
        ProcessTime(7, 1, 1.0),
        ProcessTime(8, 7, 2.0),
        ProcessTime(9, 8, 4.0),
        ProcessTime(10, 1, 8.0),
    ]

    assert cpu.tree_seconds(7, processes) == 7.0
    assert cpu.tree_seconds(10, processes) == 8.0
    assert cpu.tree_seconds(11, processes) == 0.0


@pytest.mark.parametrize(
    ("before", "after", "own_s", "share"),
    [
        (Capacity(10.0, 5.0), Capacity(30.0, 17.0), 8.0, 0.2),
        (Capacity(10.0, 5.0), Capacity(30.0, 25.0), 0.0, 1.0),
        (Capacity(10.0, 5.0), Capacity(30.0, 9.0), 4.02, 0.0),  # the two clocks differ by a tick
        (Capacity(10.0, 5.0), Capacity(10.0, 5.0), 0.0, 0.0),
    ],
)
def test_share_of_others_excludes_own_time(before, after, own_s, share):
    assert cpu.share_of_others(before, after, ours=own_s) == share


def test_time_of_this_process_is_positive_and_of_a_missing_one_zero():
    assert cpu.trees_seconds({"tests": os.getpid(), "missing": 2**22 + 1}) == {
        "tests": pytest.approx(1, abs=10_000),
        "missing": 0,
    }
