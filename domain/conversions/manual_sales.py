"""The limits of manual conversions. Source: core spec, "Conversions" (manual conversion)."""

from datetime import datetime

#: A manual commission may be at most this many times the sale's amount.
MAX_TIMES_AMOUNT = 5
_MAX_YEARS_BACK = 5


def is_possible(occurred_at: datetime, *, now: datetime) -> bool:
    """Return whether a time is allowed: not after `now`, and at most five years before, to the day."""
    return _earliest(now) <= occurred_at <= now


def _earliest(now: datetime) -> datetime:
    year = now.year - _MAX_YEARS_BACK
    try:
        return now.replace(year=year)
    except ValueError:  # 29 February
        return now.replace(year=year, day=28)
