"""When platforms are asked about a sale's buyer: at once, then again while they do not know the person.

Source: tracking spec, section 8, step 6 (a 3-second budget; retries over about two hours).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

#: When they are asked again, in seconds after the sale: waits of 1, 5, 15, 40 and 60 minutes.
RETRY_AT_S = (60, 360, 1260, 3660, 7260)
#: How long one platform may take for one look, in seconds.
BUDGET_S = 3.0
#: The longest wait that a platform can ask for, in seconds.
_LONGEST_WAIT_S = 3600


def next_at(
    started_at: datetime, *, now: datetime, at_s: Sequence[int], asked_to_wait_s: int | None = None
) -> datetime | None:
    """Return when platforms are asked next, None where this was the last time.

    `asked_to_wait_s` is what a platform that has enough of us asks for; it puts the next time off, but makes none.
    """
    times = (started_at + timedelta(seconds=seconds) for seconds in at_s)
    due = next((at for at in times if at > now), None)
    if due is None or asked_to_wait_s is None:
        return due
    return max(due, now + timedelta(seconds=min(asked_to_wait_s, _LONGEST_WAIT_S)))
