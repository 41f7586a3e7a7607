"""A measured figure: a value, its anchor, a target with a direction."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Target:
    """A bound on a figure's ratio to its anchor, or on its value without an anchor."""

    bound: float
    is_ceiling: bool = False
    is_on_value: bool = False

    def __str__(self) -> str:
        return f"{'value' if self.is_on_value else 'ratio'} {'<=' if self.is_ceiling else '>='} {self.bound:g}"

    def is_met(self, result: float) -> bool:
        """Return whether a measured ratio (or value) is on the right side of the bound."""
        return result <= self.bound if self.is_ceiling else result >= self.bound


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `anchor` is in the unit of `value`; None for a figure without one.

    `parts` are the parts of a sum. `others` is the share of our cores, 0 to 1, that processes other than the bench's
    used during the measurement, None if it was not measured.
    """

    name: str
    value: float
    unit: str
    target: Target | None
    anchor: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    others: float | None = None

    @property
    def ratio(self) -> float | None:
        """The value over its anchor."""
        return self.value / self.anchor if self.anchor else None

    @property
    def meets(self) -> bool | None:
        """Return whether the target is met, None without a target; a missing ratio does not meet it."""
        if self.target is None:
            return None
        result = self.value if self.target.is_on_value else self.ratio
        return result is not None and self.target.is_met(result)

    def as_json(self) -> dict[str, object]:
        """Return the figure in the form of results.json."""
        return {
            "name": self.name,
            "value": _round_digits(self.value),
            "unit": self.unit,
            "anchor": _round_digits(self.anchor),
            "ratio": _round_digits(self.ratio),
            "target": None if self.target is None else str(self.target),
            "meets": self.meets,
            "others": _round_digits(self.others),
        } | ({"parts": {name: _round_digits(part) for name, part in self.parts.items()}} if self.parts else {})


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the smallest value that at least `percent` percent of the values do not exceed."""
    return sorted(values)[max(math.ceil(len(values) * percent / 100), 1) - 1]


def measure_alternately(
    product: Callable[[], float], anchor: Callable[[], float], *, rounds: int
) -> tuple[float, float]:
    """Measure both alternately, every second round in the other order, and return the median of each.

    Noise that lasts longer than a round affects both, and a single bad round affects neither median.
    """
    products, anchors = [], []
    for number in range(rounds):
        if number % 2:
            anchors.append(anchor())
            products.append(product())
        else:
            products.append(product())
            anchors.append(anchor())
    return statistics.median(products), statistics.median(anchors)


def _round_digits(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.4g}")
