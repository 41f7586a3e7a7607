"""Charts as SVG with classes and attributes only, which the strictest content policy allows.

The label describes the values, their range and trend; the macro `chart` shows the same values in a table below.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

_WIDTH, _HEIGHT, _EDGE = 600, 120, 6
_NO_PICTURE = Markup("")


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A value with its label: a day, a name. `shown` is the value in words, as in the table."""

    label: str
    value: int
    shown: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of values by day, with the values; `held` are amounts by currency without an exchange rate."""

    label: str
    picture: Markup
    points: Sequence[ChartPoint]
    held: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_anything(self) -> bool:
        """Whether any value or held amount is not 0."""
        return any(point.value for point in self.points) or any(self.held.values())


def create_chart(label: str, points: Sequence[ChartPoint], held: Mapping[str, int] | None = None) -> Chart:
    """Return a line chart of non-negative values, with the values."""
    return Chart(label, draw_line(points, label), points, held or {})


def draw_line(points: Sequence[ChartPoint], label: str) -> Markup:
    """Return a line through non-negative values; nothing for fewer than two."""
    if len(points) < 2:
        return _NO_PICTURE
    step = (_WIDTH - 2 * _EDGE) / (len(points) - 1)
    path = " ".join(f"{_EDGE + at * step:.1f},{_y(point, points):.1f}" for at, point in enumerate(points))
    base = _HEIGHT - _EDGE
    inside = Markup('<polygon class="under" points="{0},{2} {1} {3:.1f},{2}"/><polyline points="{1}"/>').format(
        _EDGE, path, base, _WIDTH - _EDGE
    )
    return _svg(inside, _describe(points, label))


def _y(point: ChartPoint, points: Sequence[ChartPoint]) -> float:
    highest = max(other.value for other in points) or 1
    return _HEIGHT - _EDGE - point.value * (_HEIGHT - 2 * _EDGE) / highest


def _describe(points: Sequence[ChartPoint], label: str) -> str:
    least, most = min(points, key=_value), max(points, key=_value)
    return (
        f"{label}: {points[0].label} to {points[-1].label}, least {least.shown} ({least.label}), "
        f"most {most.shown} ({most.label}), last {points[-1].shown}"
    )


def _value(point: ChartPoint) -> int:
    return point.value


def _svg(inside: Markup, description: str) -> Markup:
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(_WIDTH, _HEIGHT, description, inside)
