"""Hours and days change while tests run. None begins so late in an hour that it could end in the next.

What it said of today would be of yesterday by then: a day's numbers, a rate that is three days old, the month of a row.
Paid clicks of one hour are one row, and somewhere a day begins with every hour.
"""

import time
from datetime import UTC, datetime

# Hardly a test takes longer; those that do say nothing of hours.
_LATE_S = 20


def wait_past() -> None:
    """Return at once, unless the hour ends within seconds: then at its end."""
    now = datetime.now(UTC)
    left_s = 3600 - (now - now.replace(minute=0, second=0, microsecond=0)).total_seconds()
    if left_s < _LATE_S:
        time.sleep(left_s)
