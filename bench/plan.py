"""The parameters of every figure: the machine, the screen, and the size of the run."""

from dataclasses import dataclass

from bench.ground.machine import Machine
from bench.screen import Screen


@dataclass(frozen=True, slots=True)
class Plan:
    """`divisor` is 1 for a full run and 10 for a quick one."""

    machine: Machine
    screen: Screen
    divisor: int

    def size(self, full: int) -> int:
        """Return a count for this run, given the count of a full run."""
        return full // self.divisor
