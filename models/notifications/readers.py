"""The mark of each member in the notifications, and the kinds that they switched off."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain.notifications.kinds import MAX_UNREAD
from models.db import db
from models.notifications.feed import NotificationView
from models.table import Rows, columns

#: How long before they joined a member's notifications begin to be unread.
_UNREAD_BEFORE = timedelta(days=1)
#: More members than this get no emails.
_MAX_RECIPIENTS = 500

#: SQL of the number of notifications that a member `m` with the reader row `r` has not read. It takes the `kinds` that
#: their role sees. A member who joined later has read those from before the day on which they joined.
UNREAD_COUNT = f"""(select count(*) from (
  select from notification n
  where n.organization_id = m.organization_id and n.number > coalesce(r.read_number, 0)
    and n.last_at >= m.created_at - interval '1 day'
    and n.kind = any(%(kinds)s::text[]) and n.kind <> all(coalesce(r.bell_off, '{{}}'))
  limit {MAX_UNREAD}) unread)"""
#: SQL that joins the reader row `r` of a member `m`, which may not exist.
READER_JOIN = "left join notification_reader r on r.organization_id = m.organization_id and r.member_id = m.id"


@dataclass(frozen=True, slots=True)
class Reader:
    """A member as a reader of notifications; `last_number` is that of the organization's latest notification."""

    member_id: UUID
    email: str
    is_email_verified: bool
    created_at: datetime
    read_number: int
    emails_off: tuple[str, ...]
    bell_off: tuple[str, ...]
    last_number: int
    unread_count: int

    def has_unread(self, notification: NotificationView) -> bool:
        """Return whether the member has not read a notification."""
        is_recent = notification.last_at >= self.created_at - _UNREAD_BEFORE
        return notification.number > self.read_number and is_recent


_READERS = Rows(Reader)
_FIND = f"""
select {
    columns(
        Reader,
        "m",
        member_id="m.id",
        read_number="coalesce(r.read_number, 0)",
        emails_off="coalesce(r.emails_off, '{}')",
        bell_off="coalesce(r.bell_off, '{}')",
        last_number="coalesce(c.last_number, 0)",
        unread_count=UNREAD_COUNT,
    )
}
from member m {READER_JOIN}
left join notification_counter c on c.organization_id = m.organization_id
where m.organization_id = %(organization_id)s and m.id = %(member_id)s
"""


def find(*, organization_id: UUID, member_id: UUID, kinds: Sequence[str]) -> Reader | None:
    """Return a member as a reader of the kinds that their role sees; None for a member who was removed."""
    return _READERS.first(_FIND, {"organization_id": organization_id, "member_id": member_id, "kinds": list(kinds)})


_MARK = """
insert into notification_reader as r (organization_id, member_id, read_number)
select m.organization_id, m.id, least(coalesce(%(up_to)s::bigint, c.last_number), c.last_number)
from member m join notification_counter c on c.organization_id = m.organization_id
where m.organization_id = %(organization_id)s and m.id = %(member_id)s
on conflict (organization_id, member_id) do update set read_number = greatest(r.read_number, excluded.read_number)
"""


def stage_read(*, organization_id: UUID, member_id: UUID, up_to: int | None) -> None:
    """Stage that a member has read every notification up to a number (None: the latest)."""
    db.stage(_MARK, {"organization_id": organization_id, "member_id": member_id, "up_to": up_to})


@dataclass(frozen=True, slots=True)
class Switches:
    """Kinds to switch on and off for a member, by email and in the dashboard; kinds in neither stay as they are."""

    emails_on: Sequence[str] = ()
    emails_off: Sequence[str] = ()
    bell_on: Sequence[str] = ()
    bell_off: Sequence[str] = ()


_SWITCH = """
insert into notification_reader as r (organization_id, member_id, emails_off, bell_off)
select organization_id, id, %(emails_off)s::text[], %(bell_off)s::text[] from member
where organization_id = %(organization_id)s and id = %(member_id)s
on conflict (organization_id, member_id) do update set
  emails_off = array(select unnest(r.emails_off) except select unnest(%(emails_on)s::text[])
    union select unnest(%(emails_off)s::text[]) order by 1),
  bell_off = array(select unnest(r.bell_off) except select unnest(%(bell_on)s::text[])
    union select unnest(%(bell_off)s::text[]) order by 1)
"""


def stage_switches(switches: Switches, *, organization_id: UUID, member_id: UUID) -> None:
    """Stage the switches of a member; nothing changes for a member who was removed."""
    values = {
        "emails_on": list(switches.emails_on),
        "emails_off": list(switches.emails_off),
        "bell_on": list(switches.bell_on),
        "bell_off": list(switches.bell_off),
    }
    db.stage(_SWITCH, values | {"organization_id": organization_id, "member_id": member_id})


@dataclass(frozen=True, slots=True)
class Recipient:
    """A member who gets the email of a notification."""

    member_id: UUID
    email: str
    role: str


_RECIPIENTS = Rows(Recipient)
# A person may be two members, such as one by an invitation and one by an identity provider: they get one email, and
# none if either has switched the kind off.
_LIST = """
select (array_agg(m.id order by m.created_at, m.id))[1], lower(m.email),
  (array_agg(m.role order by m.created_at, m.id))[1]
from member m left join notification_reader r on r.organization_id = m.organization_id and r.member_id = m.id
where m.organization_id = %(organization_id)s and m.role = any(%(roles)s) and m.is_email_verified and m.email <> ''
  and m.removed_at is null and (%(email)s::text is null or lower(m.email) = lower(%(email)s))
group by lower(m.email)
having not bool_or(%(kind)s = any(coalesce(r.emails_off, '{}')))
order by min(m.created_at), 2 limit %(limit)s
"""


def list_recipients(
    *, organization_id: UUID, kind: str, roles: Sequence[str], email: str | None = None
) -> list[Recipient]:
    """Return the members with one of these roles who get emails of a kind at a verified address, oldest first.

    With `email` only those with this address.
    """
    return _RECIPIENTS.all(
        _LIST,
        {
            "organization_id": organization_id,
            "kind": kind,
            "roles": list(roles),
            "email": email,
            "limit": _MAX_RECIPIENTS,
        },
    )
