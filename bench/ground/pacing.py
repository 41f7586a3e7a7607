"""Sends requests at an even pace, and measures the CPU use of all processes during that time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from subprocess import Popen
from typing import Any

from bench.figure import Figure, Target, percentile
from bench.ground import cpu, load
from bench.ground.load import Order, Result
from bench.ground.machine import Machine
from bench.plan import Plan

#: The shares of capacity at which each hot path is timed.
LOADS: Mapping[str, float] = {"tenth": 0.1, "four_fifths": 0.8}
_SECONDS = 40
# Progress is reported this often, and signatures stay valid.
_SLICE_S = 10
_MIN_REQUESTS = 20
_MS_PER_S = 1000

#: Returns the given number of new requests.
Make = Callable[[int], list[bytes]]


class Meter:
    """The CPU time of each kind of process, and of other processes, between two readings."""

    def __init__(self, machine: Machine, fleets: Mapping[str, "Popen[Any]"]) -> None:
        self._machine = machine
        self._roots = {name: process.pid for name, process in fleets.items()} | machine.servers()
        self.begin()

    def begin(self) -> None:
        """Start counting now."""
        self._neighbours = self._machine.neighbours()
        self._before = cpu.trees_seconds(self._roots)

    def cost(self, name: str, target: Target | None, *, units: int) -> Figure:
        """Return the CPU milliseconds per unit of work since `begin`, in total and by kind of process."""
        now = cpu.trees_seconds(self._roots)
        parts = {kind: (used - self._before[kind]) * _MS_PER_S / units for kind, used in now.items()}
        return Figure(name, sum(parts.values()), "CPU ms", target, parts=parts, others=self.others_share())

    def others_share(self) -> float:
        """Return the share of our cores that other processes used since `begin`."""
        return self._neighbours.share()


@dataclass(frozen=True, slots=True)
class Timings:
    """Timings of paced requests in order: when each was due, and the milliseconds to its response."""

    began: Sequence[float]
    took_ms: Sequence[float]


def send(plan: Plan, title: str, *, port: int, make: Make, per_second: float) -> Timings:
    """Send requests at an even pace for a duration that depends on the size of the run."""
    began: list[float] = []
    took_ms: list[float] = []
    seconds = _SECONDS / plan.divisor
    count = max(round(per_second * seconds), _MIN_REQUESTS)
    slice_size = max(round(per_second * _SLICE_S), _MIN_REQUESTS)
    with plan.screen.phase(f"{title}, {per_second:.0f}/s", total=count) as report:
        while len(began) < count:
            result: Result = load.run_order(
                Order(port, make(min(slice_size, count - len(began))), per_second=per_second)
            )
            began += result.began
            took_ms += result.took_ms
            report(len(began))
    return Timings(began, took_ms)


def figures(name: str, times_ms: Sequence[float], *, max_ms: float | None = None, others: float) -> list[Figure]:
    """Return the median and the 95th percentile; `max_ms` is the target of the latter."""
    p50, p95 = (percentile(times_ms, percent) for percent in (50, 95))
    target = Target(max_ms, is_ceiling=True, is_on_value=True) if max_ms else None
    return [
        Figure(f"{name}_p50", p50, "ms", None, others=others),
        Figure(f"{name}_p95", p95, "ms", target, others=others),
    ]
