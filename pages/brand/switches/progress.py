"""How fast a switch reads, and how long it probably takes, from what it had read at recent times.

A switch stores no history, so the live part of the page carries earlier points in its address: pairs of a Unix time and
the number of rows read until then. Slow or paused minutes before do not count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

_MIN_S = 20
#: Points are at least so far apart, and not older than the window.
_STEP_S, _WINDOW_S = 30, 300
_POINTS = re.compile(r"(?:[0-9]{10}-[0-9]{1,12}(?:\.|$)){1,12}")


class Point(NamedTuple):
    """How many rows were read at a Unix time."""

    at_s: int
    rows: int


@dataclass(frozen=True, slots=True)
class Pace:
    """Rows per minute, rounded, and the minutes that are probably left; None if they are unknown.

    `knows_all`: the source tells the length of every list; else the minutes are those of the others alone.
    """

    per_minute: int
    minutes_left: int | None
    knows_all: bool


def parse_points(text: str) -> list[Point]:
    """Return the points of an address; none if the text is malformed."""
    if not _POINTS.fullmatch(text):
        return []
    return [Point(*map(int, pair.split("-"))) for pair in text.split(".")]


def format_points(points: Sequence[Point]) -> str:
    """Return points for an address."""
    return ".".join(f"{point.at_s}-{point.rows}" for point in points)


def add_point(points: Sequence[Point], switch: Mapping[str, Any], *, now: datetime) -> list[Point]:
    """Return the recent points of a switch that is Reading, with one for now if the last one is older than a step."""
    if switch["state"] != "Reading":
        return []
    at_s, rows = int(now.timestamp()), _count_rows(switch)
    recent = [point for point in points if 0 <= at_s - point.at_s <= _WINDOW_S and point.rows <= rows]
    if not recent or at_s - recent[-1].at_s >= _STEP_S:
        recent.append(Point(at_s, rows))
    return recent


def measure(switch: Mapping[str, Any], points: Sequence[Point], *, now: datetime) -> Pace | None:
    """Return the pace of a switch that is Reading since the first point; None in its first seconds.

    Without an earlier point it is the pace since reading began, if that was within the window.
    """
    if switch["state"] != "Reading" or switch["readingAt"] is None:
        return None
    now_s, began_s = now.timestamp(), datetime.fromisoformat(switch["readingAt"]).timestamp()
    start = Point(int(began_s), 0) if now_s - began_s <= _WINDOW_S else points[0] if points else None
    rows = _count_rows(switch)
    if start is None or now_s - start.at_s < _MIN_S or rows <= start.rows:
        return None
    per_minute = (rows - start.rows) * 60 / (now_s - start.at_s)
    parts = list(switch["progress"].values())
    left = sum(max(0, part["total"] - part["read"]) for part in parts if part["total"] is not None)
    minutes_left = max(1, round(left / per_minute)) if left else None
    return Pace(_keep_two_digits(per_minute), minutes_left, all(part["total"] is not None for part in parts))


def _count_rows(switch: Mapping[str, Any]) -> int:
    return sum(part["read"] for part in switch["progress"].values())


def _keep_two_digits(value: float) -> int:
    """Return a number with two significant digits, so that it does not change with every second."""
    if value < 10:
        return max(1, round(value))
    unit: int = 10 ** (len(str(int(value))) - 2)
    return round(value / unit) * unit
