"""Writes events into the notifications of an organization, each once.

The transaction of an event stages a job, so the event waits for no other one; the job writes the notification and is
deleted in the same transaction. Applications and large sales of an hour are one notification with a number.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from domain import jobs
from domain.notifications.kinds import RULES, NotificationKind
from models import ids
from models.notifications import feed
from models.notifications.feed import NewNotice
from pipelines import work

# How many times the delay of its emails a notification collects events at most.
_MAX_EMAIL_DELAY = 3


def stage(event: NewNotice) -> None:
    """Stage the job that writes an event, in the transaction of the event."""
    args: dict[str, object] = {"kind": event.kind, "subject_id": event.subject_id}
    words = {"title": event.title, "detail": event.detail, "path": event.path}
    args |= {name: value for name, value in words.items() if value is not None}
    work.enqueue_all(jobs.NOTIFICATION_ADD, organization_id=event.organization_id, args=[args])


def add(event: NewNotice, *, now: datetime) -> None:
    """Write an event as a notification of its own, or into the open one of its kind; stage the job of its emails.

    One that is still open long after its emails were due lost their job, and collects no more.
    Budget: 1 round trip; the rest travels with the commit.
    """
    rules, notification_id = RULES[NotificationKind(event.kind)], ids.new_id()
    feed.stage_next_number(event.organization_id)
    is_new = feed.add(
        event,
        notification_id=notification_id,
        collected_since=now - _MAX_EMAIL_DELAY * rules.email_after if rules.is_collected else None,
        at=now,
    )
    if is_new:
        work.enqueue(
            jobs.NOTIFICATION_EMAIL,
            organization_id=event.organization_id,
            run_at=now + rules.email_after if rules.is_collected else None,
            notification_id=notification_id,
        )


def event_from_args(organization_id: UUID, args: Mapping[str, str]) -> NewNotice:
    """Return the event of a job's arguments. Raises work.NotReadable for a kind that this release does not know."""
    kind = args["kind"]
    if kind not in NotificationKind.__members__.values():
        raise work.NotReadable(f"there is no kind of notification {kind}")
    return NewNotice(
        organization_id, kind, UUID(args["subject_id"]), args.get("title"), args.get("detail"), args.get("path")
    )
