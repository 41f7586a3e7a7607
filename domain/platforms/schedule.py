"""The schedule of platform lookups of a sale's buyer: at once, then again while the person is unknown.

Source: tracking spec, section 8, step 6 (a 3-second budget; retries over about two hours).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

#: The times of retries, in seconds after the sale: waits of 1, 5, 15, 40 and 60 minutes.
RETRY_AT_S = (60, 360, 1260, 3660, 7260)
#: The timeout of one lookup, in seconds.
BUDGET_S = 3.0
#: The longest wait that a platform can request, in seconds.
_MAX_WAIT_S = 3600


def next_at(
    started_at: datetime, *, now: datetime, at_s: Sequence[int], requested_wait_s: int | None = None
) -> datetime | None:
    """Return the time of the next lookup, None after the last.

    `requested_wait_s` is the wait that a platform's rate limit requests; it postpones the next lookup, but adds none.
    """
    times = (started_at + timedelta(seconds=seconds) for seconds in at_s)
    due = next((at for at in times if at > now), None)
    if due is None or requested_wait_s is None:
        return due
    return max(due, now + timedelta(seconds=min(requested_wait_s, _MAX_WAIT_S)))
