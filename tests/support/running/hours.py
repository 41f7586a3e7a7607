"""Delays tests so late in an hour that the hour could change while they run.

A change of day would break tests about numbers of today, rates of three days ago, or the month of a row. It is every
hour because paid clicks are aggregated by hour, and because a day begins somewhere every hour.
"""

import time
from datetime import UTC, datetime

# Few tests take longer, and those do not depend on the hour.
_LATE_S = 20

_started_at = datetime.now(UTC)


def note_test_start() -> None:
    """Record that a test begins now; if the hour is about to end, wait for its end first."""
    global _started_at
    while (left_s := _left_s()) < _LATE_S:  # again, in case the clock was adjusted meanwhile
        time.sleep(left_s)
    _started_at = datetime.now(UTC)


def start_of_test() -> datetime:
    """Return when the test began; before the first test, when this module was imported."""
    return _started_at


def _left_s() -> float:
    now = datetime.now(UTC)
    return 3600 - (now - now.replace(minute=0, second=0, microsecond=0)).total_seconds()
