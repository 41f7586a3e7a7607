"""What may be recorded by hand. Source: core spec, "Conversions" (manual conversion)."""

from datetime import datetime

#: An engine commission may be replaced by at most so many times the sale's amount.
MOST_TIMES_AMOUNT = 5
_MOST_YEARS_BACK = 5


def is_possible(occurred_at: datetime, *, now: datetime) -> bool:
    """Say whether something may have occurred then: not after `now`, and at most five years before, to the day."""
    return _years_before(now) <= occurred_at <= now


def _years_before(now: datetime) -> datetime:
    year = now.year - _MOST_YEARS_BACK
    try:
        return now.replace(year=year)
    except ValueError:  # 29 February
        return now.replace(year=year, day=28)
