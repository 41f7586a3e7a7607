"""Charts as SVG with classes and attributes only, which the strictest content policy allows.

A chart has a bar for each day, week or month, and a thin line for the period before. Its axis is in the picture, whose
label describes the values, their range and trend. The macro `chart` adds what is shown on hover and focus, and a table.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from markupsafe import Markup

from domain.money import currencies
from domain.money.wording import MINUS
from pages.times import day_words

_NO_PICTURE = Markup("")
_MAX_STEPS = 4
_MAX_BAR, _BAR_OF_SLOT = 12, 0.7
# Steps between two lines of the axis: these, and ten, a hundred… times as much.
_STEPS = (1, 2, 5)
_UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k"))
_MIDDLE_FROM = 5


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A value with its label: a day, a name. `shown` is the value in words, as in the table, `short` a shorter label.

    `before` is the value of the period before. `is_running`: its day is not over, so the value may still grow.
    """

    label: str
    value: int
    shown: str
    short: str = ""
    before: "ChartPoint | None" = None
    is_running: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of values by day, with the values; `held` are amounts by currency without an exchange rate."""

    label: str
    picture: Markup
    points: Sequence[ChartPoint]
    total: str = ""
    held: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_anything(self) -> bool:
        """Whether any value, of the period before too, or any held amount is not 0."""
        values = _list_values(self.points)
        return any(values) or any(self.held.values())


def create_day_point(day: str, value: int, shown: str) -> ChartPoint:
    """Return the point of a day that the API gives as `2026-11-28`."""
    parsed = date.fromisoformat(day)
    return ChartPoint(day_words.describe_day(parsed), value, shown, day_words.short_day(parsed))


def create_chart(
    label: str,
    points: Sequence[ChartPoint],
    *,
    currency: str | None,
    total: str = "",
    held: Mapping[str, int] | None = None,
) -> Chart:
    """Return a chart of counts, or of minor units of a currency, with the values."""
    return Chart(label, draw_bars(points, label, currency=currency), points, total, held or {})


def draw_bars(points: Sequence[ChartPoint], label: str, *, currency: str | None) -> Markup:
    """Return bars with an axis; nothing without points."""
    if not points:
        return _NO_PICTURE
    axis = _Axis.fit(_list_values(points), currency)
    parts = (*axis.draw(), *_draw_bars(points, axis), *_draw_line_before(points, axis))
    return Markup('<svg class="chart" role="img" aria-label="{}">{}</svg>').format(
        _describe(points, label), Markup("").join(parts)
    )


def list_ticks(points: Sequence[ChartPoint]) -> Sequence[str]:
    """Return the labels below a chart: of the first point, of the last, and where there is room of the middle one."""
    places = [0, len(points) // 2, len(points) - 1] if len(points) >= _MIDDLE_FROM else [0, len(points) - 1]
    return [points[place].short or points[place].label for place in dict.fromkeys(places)]


@dataclass(frozen=True, slots=True)
class _Axis:
    """The lines of an axis, from the lowest to the highest, a `step` apart; one is 0."""

    low: int
    high: int
    step: int
    decimals: int

    @classmethod
    def fit(cls, values: Sequence[int], currency: str | None) -> "_Axis":
        least, most = min(0, *values), max(0, *values)
        step = _find_step(most - least)
        high = -(-most // step) * step
        low = least // step * step
        return cls(low, high if high > low else low + step, step, currencies.exponent(currency) if currency else 0)

    def place(self, value: int) -> float:
        """Return how far from the top a value is, in percent."""
        return (self.high - value) * 100 / (self.high - self.low)

    def draw(self) -> Iterator[Markup]:
        """Yield the lines with their labels."""
        for value in range(self.low, self.high + 1, self.step):
            y = f"{self.place(value):.1f}%"
            yield Markup('<line{} x2="100%" y1="{}" y2="{}"/>').format(
                Markup("") if value else Markup(' class="zero"'), y, y
            )
            yield Markup('<text x="-6" y="{}" dy=".35em">{}</text>').format(y, _shorten(value, self.decimals))


def _find_step(span: int) -> int:
    """Return the smallest usual step of which at most four cover a span; the lines are never more than six."""
    power = 1
    while True:
        for first in _STEPS:
            if first * power * _MAX_STEPS >= span:
                return first * power
        power *= 10


def _shorten(minor: int, decimals: int) -> str:
    """Return an amount in major units in few characters: `0`, `2.5k`, `10M`."""
    amount = Decimal(abs(minor)).scaleb(-decimals)
    size, unit = next(((size, unit) for size, unit in _UNITS if amount >= size), (1, ""))
    text = f"{amount / size:,f}"
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{MINUS if minor < 0 else ''}{short}{unit}"


def _draw_bars(points: Sequence[ChartPoint], axis: _Axis) -> Iterator[Markup]:
    slot = 100 / len(points)
    width = min(slot * _BAR_OF_SLOT, _MAX_BAR)
    for at, point in enumerate(points):
        if point.value:
            top, bottom = sorted((axis.place(point.value), axis.place(0)))
            yield Markup('<rect{} x="{}%" y="{}%" width="{}%" height="{}%"/>').format(
                Markup(' class="running"') if point.is_running else "",
                *(f"{number:.2f}" for number in (at * slot + (slot - width) / 2, top, width, bottom - top)),
            )


def _draw_line_before(points: Sequence[ChartPoint], axis: _Axis) -> Iterator[Markup]:
    """Yield the line through the values of the period before, over the whole width if there is one point."""
    values = [point.before.value for point in points if point.before]
    if not values:
        return
    slot = 1000 / len(points)
    places = [(at * slot + slot / 2, axis.place(value)) for at, value in enumerate(values)]
    if len(places) == 1:
        places = [(0, places[0][1]), (slot, places[0][1])]
    path = " ".join(f"{x:.0f},{y * 10:.0f}" for x, y in places)
    yield Markup('<svg viewBox="0 0 1000 1000" preserveAspectRatio="none"><polyline points="{}"/></svg>').format(path)


def _describe(points: Sequence[ChartPoint], label: str) -> str:
    least, most = min(points, key=_value), max(points, key=_value)
    return (
        f"{label}: {points[0].label} to {points[-1].label}, lowest {least.shown} ({least.label}), "
        f"highest {most.shown} ({most.label}), last {points[-1].shown}"
    )


def _value(point: ChartPoint) -> int:
    return point.value


def _list_values(points: Sequence[ChartPoint]) -> Sequence[int]:
    """Return the values of the points and of the period before."""
    return [each.value for point in points for each in (point, point.before) if each is not None]
