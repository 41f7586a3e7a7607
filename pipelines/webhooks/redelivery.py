"""Deliveries that were given up are sent again: all of a window, a bounded number at a time, at a pace."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from models.webhooks import redeliveries
from models.webhooks.redeliveries import DeliveryWindow

#: How many deliveries one call queues at most.
MOST_AT_ONCE = 1_000
# What happens meanwhile takes its turn among them, and a receiver that has just come back is not run over.
_GAP = timedelta(milliseconds=100)


@dataclass(frozen=True, slots=True)
class Portion:
    """How many deliveries were queued, when the last of them is due, and where to go on; None when all are queued."""

    count: int
    last_at: datetime | None
    next_after: tuple[datetime, UUID] | None


def start(window: DeliveryWindow, *, after: tuple[datetime, UUID] | None = None, now: datetime) -> Portion:
    """Queue one more attempt of the window's deliveries, oldest first, each under its own id and with its own body.

    At most `MOST_AT_ONCE`, ten a second, behind what earlier calls have queued; `after` is where an earlier portion
    ended. Like a single redelivery each is tried once: what fails is Failed again.
    """
    found = redeliveries.reopen(window, after=after, limit=MOST_AT_ONCE, gap=_GAP, now=now)
    if not found:
        return Portion(0, None, None)
    last = found[-1]
    has_more = len(found) == MOST_AT_ONCE
    return Portion(len(found), last.at, (last.created_at, last.id) if has_more else None)
