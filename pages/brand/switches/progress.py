"""How fast a switch reads, and how long it probably takes, from the numbers of its record."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_MIN_S = 20


@dataclass(frozen=True, slots=True)
class Pace:
    """Rows per minute, rounded, and the minutes that are probably left; None if they cannot be said."""

    per_minute: int
    minutes_left: int | None


def measure(switch: Mapping[str, Any], *, now: datetime) -> Pace | None:
    """Return the pace of a switch that is Reading; None in its first seconds and in other states."""
    if switch["state"] != "Reading" or switch["readingAt"] is None:
        return None
    elapsed_s = (now - datetime.fromisoformat(switch["readingAt"])).total_seconds()
    read = sum(part["read"] for part in switch["progress"].values())
    if elapsed_s < _MIN_S or not read:
        return None
    per_minute = read * 60 / elapsed_s
    return Pace(_keep_two_digits(per_minute), _estimate_minutes(switch, per_minute))


def _estimate_minutes(switch: Mapping[str, Any], per_minute: float) -> int | None:
    parts = list(switch["progress"].values())
    if any(part["total"] is None for part in parts) or not per_minute:
        return None
    left = sum(max(0, part["total"] - part["read"]) for part in parts)
    return max(1, round(left / per_minute)) if left else None


def _keep_two_digits(value: float) -> int:
    """Return a number with two significant digits, so that it does not change with every second."""
    if value < 10:
        return max(1, round(value))
    unit: int = 10 ** (len(str(int(value))) - 2)
    return round(value / unit) * unit
