"""Charts as SVG that the server writes: classes and attributes alone, so that the strictest policy lets them through.

The label says what is shown, its range and where it goes; the macro `chart` puts the same figures into a table below.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

_WIDTH, _HEIGHT, _EDGE = 600, 120, 6
_NOTHING_YET = Markup("")


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A figure, and what it is of: a day, a name. `shown` is the figure in words, as the table has it."""

    label: str
    value: int
    shown: str


@dataclass(frozen=True, slots=True)
class ShownChart:
    """A picture of some figures by day, and the figures; `held` are amounts by currency that no rate could value."""

    label: str
    picture: Markup
    points: Sequence[ChartPoint]
    held: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_anything(self) -> bool:
        """Whether there is anything to look at: a figure that is not 0, or an amount that is held."""
        return any(point.value for point in self.points) or any(self.held.values())


def shown(label: str, points: Sequence[ChartPoint], held: Mapping[str, int] | None = None) -> ShownChart:
    """Return a line through figures of which none is negative, beside the figures."""
    return ShownChart(label, line(points, label), points, held or {})


def line(points: Sequence[ChartPoint], label: str) -> Markup:
    """Return a line through figures of which none is negative; nothing where there are fewer than two."""
    if len(points) < 2:
        return _NOTHING_YET
    step = (_WIDTH - 2 * _EDGE) / (len(points) - 1)
    path = " ".join(f"{_EDGE + at * step:.1f},{_y(point, points):.1f}" for at, point in enumerate(points))
    base = _HEIGHT - _EDGE
    inside = Markup('<polygon class="under" points="{0},{2} {1} {3:.1f},{2}"/><polyline points="{1}"/>').format(
        _EDGE, path, base, _WIDTH - _EDGE
    )
    return _svg(inside, _said(points, label))


def _y(point: ChartPoint, points: Sequence[ChartPoint]) -> float:
    highest = max(one.value for one in points) or 1
    return _HEIGHT - _EDGE - point.value * (_HEIGHT - 2 * _EDGE) / highest


def _said(points: Sequence[ChartPoint], label: str) -> str:
    least, most = min(points, key=_value), max(points, key=_value)
    return (
        f"{label}: {points[0].label} to {points[-1].label}, least {least.shown} ({least.label}), "
        f"most {most.shown} ({most.label}), last {points[-1].shown}"
    )


def _value(point: ChartPoint) -> int:
    return point.value


def _svg(inside: Markup, said: str) -> Markup:
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(_WIDTH, _HEIGHT, said, inside)
