"""Decides whether a message may go out in the slot that was kept for it. Times are aware, of one clock."""

from datetime import datetime, timedelta

_MINUTE = timedelta(minutes=1)

#: How late a slot may be used. A slot that was missed by more (no worker, a paused queue) is lost, so that what has
#: piled up does not leave in one burst.
GRACE = timedelta(seconds=10)


def gap(per_minute: int) -> timedelta:
    """Return the time between two messages, to the microsecond, never shorter than asked for. `per_minute` >= 1."""
    return timedelta(microseconds=-(-_MINUTE // timedelta(microseconds=1) // per_minute))


def is_early(slot_at: datetime | None, *, now: datetime) -> bool:
    """Say whether a kept slot is still to come."""
    return slot_at is not None and slot_at > now


def is_good(slot_at: datetime | None, *, now: datetime) -> bool:
    """Say whether a kept slot is the present one."""
    return slot_at is not None and slot_at <= now <= slot_at + GRACE
