"""Hours and days change while tests run. None begins so late in an hour that it could end in the next.

What it said of today would be of yesterday by then: a day's numbers, a rate that is three days old, the month of a row.
Paid clicks of one hour are one row, and somewhere a day begins with every hour.
"""

import time
from datetime import UTC, datetime

# Hardly a test takes longer; those that do say nothing of hours.
_LATE_S = 20

_began = datetime.now(UTC)


def note_test_start() -> None:
    """Note that a test begins now; if the hour ends within seconds, then at its end."""
    global _began
    while (left_s := _left_s()) < _LATE_S:  # once more, where the clock was put right meanwhile
        time.sleep(left_s)
    _began = datetime.now(UTC)


def start_of_test() -> datetime:
    """Return when the test began; before the first one, when tests were collected."""
    return _began


def _left_s() -> float:
    now = datetime.now(UTC)
    return 3600 - (now - now.replace(minute=0, second=0, microsecond=0)).total_seconds()
