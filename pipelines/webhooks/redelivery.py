"""Sends failed deliveries of a time window again: a bounded number per call, at a limited rate."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from models.webhooks import redeliveries
from models.webhooks.redeliveries import DeliveryWindow

#: The maximum number of deliveries that one call queues.
MAX_BATCH = 1_000
# New events are sent in between, and a receiver that has just recovered is not overloaded.
_GAP = timedelta(milliseconds=100)


@dataclass(frozen=True, slots=True)
class RedeliveryBatch:
    """How many deliveries were queued, when the last is due, and where the next call continues (None: all queued)."""

    count: int
    last_at: datetime | None
    next_after: tuple[datetime, UUID] | None


def start(window: DeliveryWindow, *, after: tuple[datetime, UUID] | None = None, now: datetime) -> RedeliveryBatch:
    """Queue one more attempt of the window's deliveries, oldest first, each under its own id and with its own body.

    At most `MAX_BATCH`, ten a second, after those that earlier calls have queued; `after` is where an earlier call
    ended. Like a single redelivery each is attempted once: if that fails, it is Failed again.
    """
    rows = redeliveries.reopen(window, after=after, limit=MAX_BATCH, gap=_GAP, now=now)
    if not rows:
        return RedeliveryBatch(0, None, None)
    last = rows[-1]
    has_more = len(rows) == MAX_BATCH
    return RedeliveryBatch(len(rows), last.at, (last.created_at, last.id) if has_more else None)
