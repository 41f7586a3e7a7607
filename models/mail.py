"""Messages and the pace at which they leave. Times are the database's clock, but `created_at` and `sent_at`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from models.db import db
from models.hot import Hot

_STAGE = Hot(
    "insert into mail_message (id, organization_id, kind, recipient, subject, body_sealed, created_at)"
    " values (%s, %s, %s, %s, %s, %s, %s)"
)


def stage(
    *,
    message_id: UUID,
    organization_id: UUID,
    kind: str,
    recipient: str,
    subject: str,
    body_sealed: bytes,
    created_at: datetime,
) -> None:
    """Stage one Queued message."""
    db.stage(_STAGE, (message_id, organization_id, kind, recipient, subject, body_sealed, created_at))


@dataclass(frozen=True, slots=True)
class Waiting:
    """A Queued message, locked; `slot_at` is the slot kept for it, `now` the database's time."""

    id: UUID
    organization_id: UUID
    recipient: str
    subject: str
    body_sealed: bytes
    created_at: datetime
    slot_at: datetime | None
    now: datetime


def lock_waiting(*, organization_id: UUID, message_id: UUID) -> Waiting | None:
    """Lock and return a message that is still to be sent; None when it is not Queued any more."""
    row = db.row(
        "select id, organization_id, recipient, subject, body_sealed, created_at, slot_at, clock_timestamp()"
        " from mail_message where organization_id = %s and id = %s and status = 'Queued' for update",
        (organization_id, message_id),
    )
    if row is None:
        return None
    values = list(row)
    values[4] = bytes(values[4])  # psycopg2 brings a memoryview
    return Waiting(*values)


def take_slot(*, now: datetime, gap: timedelta) -> datetime:
    """Take the next free slot of the installation and return its time: `now`, or later.

    Holds the one row of the pace until the transaction ends, so nothing else may wait inside of it.
    """
    row = db.row("update mail_pace set next_at = greatest(next_at, %s) + %s returning next_at - %s", (now, gap, gap))
    assert row is not None
    slot_at: datetime = row[0]
    return slot_at


def stage_slot(*, organization_id: UUID, message_id: UUID, slot_at: datetime) -> None:
    """Stage that a slot is kept for a message."""
    db.stage(
        "update mail_message set slot_at = %s where organization_id = %s and id = %s",
        (slot_at, organization_id, message_id),
    )


def stage_attempt(*, organization_id: UUID, message_id: UUID) -> None:
    """Stage that an attempt begins: it is counted and has used its slot."""
    db.stage(
        "update mail_message set attempts = attempts + 1, slot_at = null where organization_id = %s and id = %s",
        (organization_id, message_id),
    )


def stage_sent(*, organization_id: UUID, message_id: UUID, at: datetime) -> None:
    """Stage that the server has taken the message; its body goes."""
    db.stage(
        "update mail_message set status = 'Sent', sent_at = %s, body_sealed = null, last_error = null"
        " where organization_id = %s and id = %s",
        (at, organization_id, message_id),
    )


def stage_settled(*, organization_id: UUID, message_id: UUID, status: str, error: str | None) -> None:
    """Stage that a Queued message is Kept or Failed; its body stays for a while."""
    db.stage(
        "update mail_message set status = %s, last_error = %s, slot_at = null"
        " where organization_id = %s and id = %s and status = 'Queued'",
        (status, error, organization_id, message_id),
    )


def stage_error(*, organization_id: UUID, message_id: UUID, error: str) -> None:
    """Stage why the last attempt of a message led to nothing; it is tried again."""
    db.stage(
        "update mail_message set last_error = %s where organization_id = %s and id = %s and status = 'Queued'",
        (error, organization_id, message_id),
    )


@dataclass(frozen=True, slots=True)
class Message:
    """A message as an operator sees it; its body stays sealed, and is None once it was dropped."""

    id: UUID
    organization_id: UUID
    kind: str
    recipient: str
    subject: str
    status: str
    attempts: int
    last_error: str | None
    created_at: datetime
    sent_at: datetime | None
    body_sealed: bytes | None


_COLUMNS = ", ".join(Message.__dataclass_fields__)


def any_org_list(*, organization_id: UUID | None, status: str | None, limit: int) -> list[Message]:
    """Return messages, newest first, narrowed by what is given."""
    rows = db.run(
        f"select {_COLUMNS} from mail_message where (%s::uuid is null or organization_id = %s)"
        " and (%s::text is null or status = %s) order by created_at desc, id desc limit %s",
        (organization_id, organization_id, status, status, limit),
    )
    return [Message(*row) for row in rows]


def any_org_find(message_id: UUID) -> Message | None:
    """Return one message of any organization."""
    row = db.row(f"select {_COLUMNS} from mail_message where id = %s", (message_id,))
    if row is None:
        return None
    values = list(row)
    values[-1] = bytes(values[-1]) if values[-1] is not None else None
    return Message(*values)


def any_org_requeue(message_ids: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
    """Make Kept and Failed messages Queued again; returns (organization, message) of those that still had a body."""
    return db.run(
        "update mail_message set status = 'Queued', attempts = 0, last_error = null"
        " where id = any(%s) and status in ('Kept', 'Failed') and body_sealed is not null"
        " returning organization_id, id",
        (list(message_ids),),
    )


def any_org_forget_bodies(*, limit: int) -> int:
    """Drop up to `limit` bodies that are 14 days old; returns how many.

    A message that is still Queued by then is told off as Failed: it says old news.
    """
    rows = db.run(
        "update mail_message set body_sealed = null, status = case status when 'Queued' then 'Failed' else status end,"
        " last_error = case status when 'Queued' then 'not sent within 14 days; ' || coalesce(last_error, 'no attempt')"
        " else last_error end"
        " where id in (select id from mail_message where body_sealed is not null"
        " and created_at < now() - interval '14 days' order by created_at limit %s for update skip locked) returning 1",
        (limit,),
    )
    return len(rows)
