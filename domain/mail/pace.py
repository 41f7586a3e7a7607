"""The time slots in which messages are sent. Times are aware, of one clock."""

from datetime import datetime, timedelta

_MINUTE = timedelta(minutes=1)

#: How late a slot may be used. A slot that was missed by more (no worker, a paused queue) is lost, so that a backlog is
#: not sent in one burst.
GRACE = timedelta(seconds=10)


def gap(per_minute: int) -> timedelta:
    """Return the time between two messages, rounded up to the microsecond. `per_minute` >= 1."""
    return timedelta(microseconds=-(-_MINUTE // timedelta(microseconds=1) // per_minute))


def is_early(slot_at: datetime | None, *, now: datetime) -> bool:
    """Return whether a reserved slot is in the future."""
    return slot_at is not None and slot_at > now


def is_usable(slot_at: datetime | None, *, now: datetime) -> bool:
    """Return whether a reserved slot can be used now."""
    return slot_at is not None and slot_at <= now <= slot_at + GRACE
