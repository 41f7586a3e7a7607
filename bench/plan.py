"""What every figure is given: the machine, the screen, and how large the run is."""

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
        """Return how many of something this run does where a full one does `full`."""
        return full // self.divisor
