"""The team of an organization as its list shows it, and the memberships of a person found by a verified email."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.organization.members import Member
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class TeamEntry:
    """An entry in the list of the team: an active member, or a pending or expired invitation.

    `active_api_keys` are the keys that a member created and that were not revoked.
    """

    id: UUID
    email: str
    role: str
    status: str
    created_at: datetime
    last_seen_at: datetime | None
    has_second_factor: bool
    active_api_keys: int
    invited_by_email: str | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Membership:
    """A membership of a person: an organization in which they have a role."""

    member_id: UUID
    organization_id: UUID
    organization_name: str
    role: str
    subject: str | None
    seen_at: datetime


_TABLE = Table("member", Member)
_TEAM = Rows(TeamEntry)
_LIST = f"""
with entry as (
  select m.id, m.email, m.role, 'Active' as status, m.created_at,
    case when m.subject is not null then m.seen_at end as last_seen_at,
    exists (select from second_factor f where f.email = m.email and f.enabled_at is not null) as has_second_factor,
    (select count(*) from api_key k
     where k.organization_id = m.organization_id and k.member_id = m.id and k.revoked_at is null) as active_api_keys,
    null::text as invited_by_email, null::timestamptz as expires_at
  from member m where m.organization_id = %(org)s and m.removed_at is null
  union all
  select i.id, i.email, i.role, case when i.expires_at > %(now)s then 'Invited' else 'Expired' end, i.created_at,
    null, false, 0, m.email, i.expires_at
  from member_invite i join member m on m.organization_id = i.organization_id and m.id = i.invited_by
  where i.organization_id = %(org)s
)
select {columns(TeamEntry)} from entry
where (%(id)s::uuid is null or id = %(id)s) and (%(at)s::timestamptz is null or (created_at, id) > (%(at)s, %(after)s))
order by created_at, id limit %(limit)s
"""


def list_team(
    *, organization_id: UUID, now: datetime, after: tuple[datetime, UUID] | None, limit: int
) -> list[TeamEntry]:
    """Return up to `limit` active members and invitations, oldest first, after a position. Budget: 1 statement."""
    at, last_id = after or (None, None)
    params = {"org": organization_id, "now": now, "id": None, "at": at, "after": last_id, "limit": limit}
    return _TEAM.all(_LIST, params)


def find_entry(*, organization_id: UUID, entry_id: UUID, now: datetime) -> TeamEntry | None:
    """Return one active member or invitation. Budget: 1 statement."""
    params = {"org": organization_id, "now": now, "id": entry_id, "at": None, "after": None, "limit": 1}
    return _TEAM.first(_LIST, params)


_LOCK = f"""
select {_TABLE.columns} from member where organization_id = %s and id = any(%s) and removed_at is null
order by id for no key update
"""


def lock(*, organization_id: UUID, member_ids: Sequence[UUID]) -> dict[UUID, Member]:
    """Return those of the members who are active, locked until the transaction ends."""
    return {member.id: member for member in _TABLE.all(_LOCK, (organization_id, list(member_ids)))}


_LOCK_PERSON = f"""
select {_TABLE.columns} from member where organization_id = %(org)s and removed_at is null
  and (id in (%(actor)s, %(id)s) or is_email_verified and email <> '' and email = (
    select p.email from member p where p.organization_id = %(org)s and p.id = %(id)s and p.is_email_verified))
order by id for no key update
"""


def lock_person(*, organization_id: UUID, member_id: UUID, actor_id: UUID) -> dict[UUID, Member]:
    """Return the active rows of an actor, of a member, and of the same person, locked until the transaction ends.

    A person has several rows, with one verified email, if an identity provider has given them another subject.
    """
    params = {"org": organization_id, "actor": actor_id, "id": member_id}
    return {member.id: member for member in _TABLE.all(_LOCK_PERSON, params)}


_BY_EMAIL = f"""
select {_TABLE.columns} from member where organization_id = %s and email = %s and is_email_verified
order by removed_at is not null, subject is null, created_at, id limit 1 for no key update
"""


def lock_by_email(*, organization_id: UUID, email: str) -> Member | None:
    """Return the member with a verified email, locked; a removed one only if no other has the email."""
    return _TABLE.first(_BY_EMAIL, (organization_id, email))


_OWNERS = """
select count(*) from member where organization_id = %s and role = 'Owner' and removed_at is null and id <> all(%s)
"""


def count_other_owners(*, organization_id: UUID, member_ids: Sequence[UUID]) -> int:
    """Return how many active Owners there are without these members."""
    row = db.row(_OWNERS, (organization_id, list(member_ids)))
    assert row is not None
    return int(row[0])


def change_role(member: Member, *, role: str, at: datetime) -> None:
    """Change the role of a locked member, in the list and in their sessions of this organization.

    The database refuses to demote the last Owner.
    """
    key = (member.organization_id, member.id)
    db.run(
        "update member set role = %s, access_changed_at = %s where organization_id = %s and id = %s returning 1",
        (
            role,
            at,
            *key,
        ),
    )
    db.stage(
        "update web_session set role = %s where organization_id = %s and kind = 'member' and subject = %s",
        (role, member.organization_id, member.subject),
    )


# A member who never signed in gets the subject of tokens of ours, so that such a token is refused as well.
_REMOVE = """
update member m set removed_at = %(at)s, access_changed_at = %(at)s, subject = case
  when m.subject is null and not exists (
    select from member o where o.organization_id = m.organization_id and o.subject = %(subject)s)
  then %(subject)s else m.subject end
where organization_id = %(org)s and id = %(id)s returning 1
"""
_END_LINKS = "delete from sign_in_link where organization_id = %s and kind = 'member' and email = %s"
_END_SESSIONS = "delete from web_session where organization_id = %s and kind = 'member' and subject = %s"


def remove(member: Member, *, local_subject: str, at: datetime) -> None:
    """Remove a locked member, and end their sessions and links of this organization.

    `local_subject` is the subject of their email address in our own tokens.

    The database refuses to remove the last Owner.
    """
    params = {"at": at, "subject": local_subject, "org": member.organization_id, "id": member.id}
    db.run(_REMOVE, params)
    db.stage(_END_LINKS, (member.organization_id, member.email))
    db.stage(_END_SESSIONS, (member.organization_id, member.subject))


_RESTORE = """
update member set role = %s, removed_at = null, is_email_verified = true, access_changed_at = %s
where organization_id = %s and id = %s returning 1
"""


def restore(member: Member, *, role: str, at: datetime) -> None:
    """Make a removed member, locked, active again with a role."""
    db.run(_RESTORE, (role, at, member.organization_id, member.id))


_MEMBERSHIPS = Rows(Membership)
# Of several members with this email in one organization, the one who has this subject, else the first.
_OF_EMAIL = f"""
select distinct on (m.organization_id) {
    columns(Membership, "m", member_id="m.id", organization_id="m.organization_id", organization_name="o.name")
}
from member m join organization o on o.id = m.organization_id
where m.email = %s and m.removed_at is null and m.is_email_verified
order by m.organization_id, m.subject is not distinct from %s desc, m.created_at, m.id
"""


def any_org_list_memberships(*, email: str, subject: str) -> list[Membership]:
    """Return a person's memberships by their verified email, the last visited first. Budget: 1 statement."""
    rows = _MEMBERSHIPS.all(_OF_EMAIL, (email, subject)) if email else []
    return sorted(rows, key=lambda row: (row.seen_at, row.organization_id), reverse=True)


# Not null: another row of the same email may have none yet.
_FREE_SUBJECT = """
update member set subject = 'former:' || id where organization_id = %(org)s and subject = %(subject)s and id <> %(id)s
"""
_END_OLD_SESSIONS = """
delete from web_session s using member m
where m.organization_id = %(org)s and m.id = %(id)s and m.subject <> %(subject)s
  and s.organization_id = m.organization_id and s.kind = 'member' and s.subject = m.subject
"""
_BIND = "update member set subject = %(subject)s where organization_id = %(org)s and id = %(id)s"


def stage_subject(*, organization_id: UUID, member_id: UUID, subject: str) -> None:
    """Stage the subject under which a member signs in from now on; sessions of a former one end."""
    params = {"org": organization_id, "id": member_id, "subject": subject}
    for statement in (_FREE_SUBJECT, _END_OLD_SESSIONS, _BIND):
        db.stage(statement, params)
