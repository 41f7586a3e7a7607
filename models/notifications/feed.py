"""The notifications of an organization, each with the number of its latest event."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Rows, columns

#: How many subjects of a notification are stored; further events only count.
MAX_SUBJECTS = 10

_COUNT = """
insert into notification_counter as c (organization_id, last_number) values (%s, 1)
on conflict (organization_id) do update set last_number = c.last_number + 1
"""


def stage_next_number(organization_id: UUID) -> None:
    """Stage the next number of an organization; its row stays locked until the transaction ends.

    A statement of its own, so that `add` sees the notifications of the transaction that had the lock before.
    """
    db.stage(_COUNT, (organization_id,))


@dataclass(frozen=True, slots=True)
class NewNotice:
    """An event for the notifications of an organization.

    `title`, `detail` (the body of its email) and `path` (its page) are None where they follow from the subject.
    """

    organization_id: UUID
    kind: str
    subject_id: UUID
    title: str | None = None
    detail: str | None = None
    path: str | None = None


_ADD = f"""
with collected as (
  update notification n set number = c.last_number, event_count = n.event_count + 1, last_at = %(at)s,
    subject_ids = case when cardinality(n.subject_ids) < {MAX_SUBJECTS} then n.subject_ids || %(subject_id)s::uuid
      else n.subject_ids end
  from notification_counter c
  where c.organization_id = %(organization_id)s and n.organization_id = %(organization_id)s and n.kind = %(kind)s
    and n.emailed_at is null and n.first_at > %(collected_since)s
  returning n.id
), opened as (
  insert into notification (id, organization_id, number, kind, event_count, subject_ids, title, detail, path,
    first_at, last_at)
  select %(id)s, c.organization_id, c.last_number, %(kind)s, 1, array[%(subject_id)s::uuid], %(title)s, %(detail)s,
    %(path)s, %(at)s, %(at)s
  from notification_counter c where c.organization_id = %(organization_id)s and not exists (select from collected)
  returning id
)
select exists (select from opened)
"""


def add(event: NewNotice, *, notification_id: UUID, collected_since: datetime | None, at: datetime) -> bool:
    """Write an event under the number that was taken; return whether it opened a notification of this id.

    Otherwise it counts in the open notification of its kind whose first event was after `collected_since`.
    """
    params = {
        "id": notification_id,
        "organization_id": event.organization_id,
        "kind": event.kind,
        "subject_id": event.subject_id,
        "title": event.title,
        "detail": event.detail,
        "path": event.path,
        "collected_since": collected_since,
        "at": at,
    }
    row = db.row(_ADD, params)
    assert row is not None
    is_new: bool = row[0]
    return is_new


@dataclass(frozen=True, slots=True)
class NotificationView:
    """A notification with its first subject, where that is an affiliate or an affiliate's sale; None where it is not.

    `title`, `detail` and `path` are None where they follow from the subjects.
    """

    id: UUID
    number: int
    kind: str
    event_count: int
    subject_ids: tuple[UUID, ...]
    title: str | None
    detail: str | None
    path: str | None
    first_at: datetime
    last_at: datetime
    affiliate_id: UUID | None
    affiliate_name: str | None
    amount_cents: int | None
    currency: str | None


_VIEWS = Rows(NotificationView)
_VIEW = columns(
    NotificationView,
    "n",
    affiliate_id="a.id",
    affiliate_name="a.full_name",
    amount_cents="c.amount_cents",
    currency="c.currency",
)
_SUBJECTS = """
left join conversion c on n.kind in ('first_sale', 'large_sale') and c.organization_id = n.organization_id
  and c.id = n.subject_ids[1]
left join affiliate a on a.organization_id = n.organization_id
  and a.id = case when n.kind = 'new_application' then n.subject_ids[1] else c.affiliate_id end
"""
_PAGE = f"""
select {_VIEW}
from (
  select * from notification
  where organization_id = %(organization_id)s and kind = any(%(kinds)s)
    and (%(before)s::timestamptz is null or (last_at, id) < (%(before)s, %(before_id)s))
  order by last_at desc, id desc limit %(limit)s
) n
{_SUBJECTS}
order by n.last_at desc, n.id desc
"""


def list_notifications(
    *,
    organization_id: UUID,
    kinds: Sequence[str],
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[NotificationView]:
    """Return up to `limit` notifications of these kinds, the latest first, after a position."""
    before, before_id = after or (None, None)
    return _VIEWS.all(
        _PAGE,
        {
            "organization_id": organization_id,
            "kinds": list(kinds),
            "before": before,
            "before_id": before_id,
            "limit": limit,
        },
    )


_LOCK = """
select 1 from notification where organization_id = %s and id = %s and emailed_at is null for update
"""
_FIND = f"""
select {_VIEW} from notification n {_SUBJECTS} where n.organization_id = %s and n.id = %s
"""


def lock_unsent(*, organization_id: UUID, notification_id: UUID) -> NotificationView | None:
    """Return a notification whose emails are still to be staged, locked; None if they were, or it was deleted."""
    if db.row(_LOCK, (organization_id, notification_id)) is None:
        return None
    return _VIEWS.first(_FIND, (organization_id, notification_id))


_STAGE_EMAILED = """
update notification set emailed_at = %s where organization_id = %s and id = %s
"""


def stage_emailed(*, organization_id: UUID, notification_id: UUID, at: datetime) -> None:
    """Stage that the emails of a notification are staged: it collects no further events."""
    db.stage(_STAGE_EMAILED, (at, organization_id, notification_id))


@dataclass(frozen=True, slots=True)
class SubjectLine:
    """An affiliate who is the subject of a notification, or whose sale is; amounts None without a sale."""

    affiliate_name: str | None
    amount_cents: int | None
    currency: str | None


_LINES = Rows(SubjectLine)
_SALES = f"""
select {columns(SubjectLine, "c", affiliate_name="a.full_name")}
from unnest(%(ids)s::uuid[]) with ordinality s (id, place)
join conversion c on c.organization_id = %(org)s and c.id = s.id
left join affiliate a on a.organization_id = c.organization_id and a.id = c.affiliate_id
order by s.place
"""
_APPLICANTS = """
select a.full_name, null::bigint, null::text
from unnest(%(ids)s::uuid[]) with ordinality s (id, place)
join affiliate a on a.organization_id = %(org)s and a.id = s.id
order by s.place
"""


def list_sale_lines(*, organization_id: UUID, conversion_ids: Sequence[UUID]) -> list[SubjectLine]:
    """Return the affiliates and amounts of some sales, in their order."""
    return _LINES.all(_SALES, {"org": organization_id, "ids": list(conversion_ids)})


def list_applicant_lines(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> list[SubjectLine]:
    """Return the names of some applicants, in their order."""
    return _LINES.all(_APPLICANTS, {"org": organization_id, "ids": list(affiliate_ids)})


_HAS_PENDING = """
select exists (select from affiliate where organization_id = %(org)s and status = 'Pending' and deleted_at is null
  and (%(ids)s::uuid[] is null or id = any(%(ids)s::uuid[])))
"""


def has_pending_applications(organization_id: UUID, affiliate_ids: Sequence[UUID] | None) -> bool:
    """Return whether any of these applications waits for a decision; None: any of the organization's."""
    params = {"org": organization_id, "ids": None if affiliate_ids is None else list(affiliate_ids)}
    return bool(db.run(_HAS_PENDING, params)[0][0])
