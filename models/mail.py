"""Emails and the rate at which they are sent. Times are the database's clock, except `created_at` and `sent_at`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from models.db import db
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns

_STAGE = PreparedStatement("""
insert into mail_message (id, organization_id, kind, recipient, subject, body_sealed, created_at)
values (%s, %s, %s, %s, %s, %s, %s)
""")


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
class QueuedMessage:
    """A Queued message, locked; `slot_at` is the sending slot reserved for it, `now` the database's time."""

    id: UUID
    organization_id: UUID
    kind: str
    recipient: str
    subject: str
    body_sealed: bytes
    created_at: datetime
    slot_at: datetime | None
    now: datetime


_QUEUED = Rows(QueuedMessage)
_LOCK_QUEUED = f"""
select {columns(QueuedMessage, now="clock_timestamp()")} from mail_message
where organization_id = %s and id = %s and status = 'Queued'
for update
"""


def lock_queued(*, organization_id: UUID, message_id: UUID) -> QueuedMessage | None:
    """Lock and return a message that is still to be sent; None if it is not Queued any more."""
    return _QUEUED.first(_LOCK_QUEUED, (organization_id, message_id))


_TAKE_SLOT = """
update mail_pace set next_at = greatest(next_at, %s) + %s returning next_at - %s
"""


def take_slot(*, now: datetime, gap: timedelta) -> datetime:
    """Take the next free sending slot of the installation and return its time: `now`, or later.

    The one row of the rate is locked until the transaction ends, so the transaction must not wait for anything else.
    """
    row = db.row(_TAKE_SLOT, (now, gap, gap))
    assert row is not None
    slot_at: datetime = row[0]
    return slot_at


_STAGE_SLOT = """
update mail_message set slot_at = %s where organization_id = %s and id = %s
"""


def stage_slot(*, organization_id: UUID, message_id: UUID, slot_at: datetime) -> None:
    """Stage that a slot is reserved for a message."""
    db.stage(_STAGE_SLOT, (slot_at, organization_id, message_id))


_STAGE_ATTEMPT = """
update mail_message set attempts = attempts + 1, slot_at = null where organization_id = %s and id = %s
"""


def stage_attempt(*, organization_id: UUID, message_id: UUID) -> None:
    """Stage that an attempt is counted and has used the slot of its message."""
    db.stage(_STAGE_ATTEMPT, (organization_id, message_id))


_STAGE_SENT = """
update mail_message set status = 'Sent', sent_at = %s, body_sealed = null, last_error = null
where organization_id = %s and id = %s
"""


def stage_sent(*, organization_id: UUID, message_id: UUID, at: datetime) -> None:
    """Stage that the server has accepted the message; its body is deleted."""
    db.stage(_STAGE_SENT, (at, organization_id, message_id))


_STAGE_SETTLED = """
update mail_message set status = %s, last_error = %s, slot_at = null
where organization_id = %s and id = %s and status = 'Queued'
"""


def stage_final_status(*, organization_id: UUID, message_id: UUID, status: str, error: str | None) -> None:
    """Stage that a Queued message is Kept or Failed; its body stays for 14 days."""
    db.stage(_STAGE_SETTLED, (status, error, organization_id, message_id))


_STAGE_DROPPED = """
update mail_message set status = 'Failed', last_error = %s, slot_at = null, body_sealed = null
where organization_id = %s and id = %s and status = 'Queued'
"""


def stage_dropped(*, organization_id: UUID, message_id: UUID, reason: str) -> None:
    """Stage that a Queued message will never be sent; its body is deleted, so that it cannot be retried."""
    db.stage(_STAGE_DROPPED, (reason, organization_id, message_id))


_STAGE_ERROR = """
update mail_message set last_error = %s where organization_id = %s and id = %s and status = 'Queued'
"""


def stage_error(*, organization_id: UUID, message_id: UUID, error: str) -> None:
    """Stage the error of a message's last attempt; it is tried again."""
    db.stage(_STAGE_ERROR, (error, organization_id, message_id))


@dataclass(frozen=True, slots=True)
class MailMessage:
    """A message as an operator sees it; its body stays sealed, and is None once it was deleted."""

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


_MESSAGES = Rows(MailMessage)
_ANY_ORG_LIST = f"""
select {columns(MailMessage)} from mail_message
where (%(org)s::uuid is null or organization_id = %(org)s) and (%(status)s::text is null or status = %(status)s)
order by created_at desc, id desc
limit %(limit)s
"""


def any_org_list(*, organization_id: UUID | None, status: str | None, limit: int) -> list[MailMessage]:
    """Return messages that match the filters (None: any), newest first."""
    return _MESSAGES.all(_ANY_ORG_LIST, {"org": organization_id, "status": status, "limit": limit})


_ANY_ORG_PAGE = f"""
select {columns(MailMessage)} from mail_message
where (%(org)s::uuid is null or organization_id = %(org)s) and (%(status)s::text is null or status = %(status)s)
  and (%(at)s::timestamptz is null or (created_at, id) < (%(at)s, %(id)s::uuid))
order by created_at desc, id desc
limit %(limit)s
"""


def any_org_page(
    *, organization_id: UUID | None, status: str | None, after: tuple[datetime, UUID] | None, limit: int
) -> list[MailMessage]:
    """Return messages that match the filters (None: any), newest first, after a position."""
    at, id = after or (None, None)
    params = {"org": organization_id, "status": status, "at": at, "id": id, "limit": limit}
    return _MESSAGES.all(_ANY_ORG_PAGE, params)


_ANY_ORG_FIND = f"""
select {columns(MailMessage)} from mail_message where id = %s
"""


def any_org_find(message_id: UUID) -> MailMessage | None:
    """Return one message of any organization."""
    return _MESSAGES.first(_ANY_ORG_FIND, (message_id,))


_ANY_ORG_REQUEUE = """
update mail_message set status = 'Queued', attempts = 0, last_error = null
where id = any(%s) and status in ('Kept', 'Failed') and body_sealed is not null
returning organization_id, id
"""


def any_org_requeue(message_ids: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
    """Queue Kept and Failed messages again; return (organization, message) of those that still had a body."""
    return db.run(_ANY_ORG_REQUEUE, (list(message_ids),))


_ANY_ORG_FORGET_BODIES = """
update mail_message set body_sealed = null,
  status = case status when 'Queued' then 'Failed' else status end,
  last_error = case status
    when 'Queued' then 'not sent within 14 days; ' || coalesce(last_error, 'no attempt')
    else last_error end
where (organization_id, id) in (
  select organization_id, id from mail_message
  where body_sealed is not null and created_at < now() - interval '14 days'
  order by created_at limit %s
  for update skip locked
)
returning 1
"""


def any_org_delete_old_bodies(*, limit: int) -> int:
    """Delete up to `limit` bodies that are 14 days old; return how many.

    A message that is still Queued by then becomes Failed: its content is out of date.
    """
    return len(db.run(_ANY_ORG_FORGET_BODIES, (limit,)))
