"""Sessions of people at the pages, and the one-time links that begin them. Both are known by a hash alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import db
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class WebSession:
    """Who is signed in. `kind` is member, account (an affiliate) or operator; a member has organization and role.

    Where an identity provider vouches for them, `issuer` names it, `refreshed_at` is when it last did, `refresh_from`
    when it is asked again, and `refresh_sealed` its refresh token, if it gave one. Where it did not say when they
    logged in (not `is_login_dated`), `signed_in_at` is when they came, and proves nothing.
    """

    id_hash: bytes
    kind: str
    organization_id: UUID | None
    role: str | None
    subject: str
    email: str
    is_email_verified: bool
    signed_in_at: datetime
    seen_at: datetime
    expires_at: datetime
    user_agent: str | None
    issuer: str | None = None
    refreshed_at: datetime | None = None
    refresh_from: datetime | None = None
    refresh_sealed: bytes | None = None
    is_login_dated: bool = True


@dataclass(frozen=True, slots=True)
class SignInLink:
    """Whom a one-time link signs in; a mailed one was `asked_by` the browser with this hash of its cookie."""

    kind: str
    organization_id: UUID | None
    role: str | None
    email: str
    asked_by: bytes | None = None


_SESSIONS = Table("web_session", WebSession, key=("id_hash",))
_LINKS = Rows(SignInLink)
# What nobody came back for is dropped a little at a time, by those who sign in after.
_MOST_DROPPED = 100


def any_org_insert(values: Mapping[str, Any]) -> None:
    """Insert a session."""
    _SESSIONS.insert(values)


_FIND = f"select {_SESSIONS.columns} from web_session where id_hash = %s and expires_at > %s and seen_at > %s"


def any_org_find(*, id_hash: bytes, now: datetime, seen_since: datetime) -> WebSession | None:
    """Return a session that has not ended and was seen since; None for any other. Budget: 1 statement."""
    return _SESSIONS.first(_FIND, (id_hash, now, seen_since))


def any_org_stage_seen(*, id_hash: bytes, at: datetime) -> None:
    """Stage that somebody came with a session."""
    db.stage("update web_session set seen_at = %s where id_hash = %s", (at, id_hash))


_TAKE_REFRESH = "update web_session set refresh_from = %s where id_hash = %s and refresh_from <= %s returning 1"


def any_org_take_refresh(*, id_hash: bytes, now: datetime, until: datetime) -> bool:
    """Take it upon oneself to ask the provider, until a time; False where somebody else has, or the session is gone."""
    return bool(db.run(_TAKE_REFRESH, (until, id_hash, now)))


_REFRESHED = """
update web_session set role = %s, email = %s, is_email_verified = %s, refreshed_at = %s, refresh_from = %s,
  refresh_sealed = %s
where id_hash = %s
returning 1
"""


def any_org_refresh(session: WebSession) -> bool:
    """Write what the provider of a session says by now; False where the session has ended meanwhile."""
    said = (session.role, session.email, session.is_email_verified)
    about = (session.refreshed_at, session.refresh_from, session.refresh_sealed)
    return bool(db.run(_REFRESHED, (*said, *about, session.id_hash)))


def any_org_stage_refresh_from(*, id_hash: bytes, at: datetime) -> None:
    """Stage when the provider is asked again."""
    db.stage("update web_session set refresh_from = %s where id_hash = %s", (at, id_hash))


_END = f"delete from web_session where id_hash = %s returning {_SESSIONS.columns}"


def any_org_end(id_hash: bytes) -> WebSession | None:
    """End a session and return it as it was; None for one that is not there."""
    return _SESSIONS.first(_END, (id_hash,))


def any_org_end_all(*, kind: str, subject: str) -> int:
    """End every session of a person and return how many there were."""
    return len(db.run("delete from web_session where kind = %s and subject = %s returning 1", (kind, subject)))


_END_OTHER_ROLES = """
delete from web_session where kind = 'member' and subject = %s and organization_id = %s and role <> %s
"""


def any_org_stage_end_other_roles(*, subject: str, organization_id: UUID, role: str) -> None:
    """Stage the end of a person's sessions in an organization that have another role."""
    db.stage(_END_OTHER_ROLES, (subject, organization_id, role))


@dataclass(frozen=True, slots=True)
class MemberSession:
    """A session of a member as their organization sees it. `id` names it, and lets nobody in."""

    id: str
    subject: str
    signed_in_at: datetime
    seen_at: datetime
    expires_at: datetime
    user_agent: str | None


_MEMBER_SESSIONS = Rows(MemberSession)
_OF_MEMBERS = f"""
select {columns(MemberSession, id="encode(id_hash, 'hex')")} from web_session
where organization_id = %s and kind = 'member' and expires_at > %s and seen_at > %s
order by seen_at desc, id_hash limit %s
"""


def of_members(*, organization_id: UUID, now: datetime, seen_since: datetime, limit: int) -> list[MemberSession]:
    """Return the sessions of an organization's people that last, those seen last first. Budget: 1 statement."""
    return _MEMBER_SESSIONS.all(_OF_MEMBERS, (organization_id, now, seen_since, limit))


_END_OF_MEMBER = """
delete from web_session where organization_id = %s and kind = 'member' and subject = %s returning 1
"""


def end_of_member(*, organization_id: UUID, subject: str) -> int:
    """End a member's sessions in their organization and return how many there were."""
    return len(db.run(_END_OF_MEMBER, (organization_id, subject)))


_INSERT_LINK = """
insert into sign_in_link (token_hash, kind, organization_id, role, email, asked_by, expires_at)
values (%s, %s, %s, %s, %s, %s, %s)
"""


def any_org_stage_link(token_hash: bytes, link: SignInLink, *, expires_at: datetime) -> None:
    """Stage a one-time link."""
    values = (token_hash, link.kind, link.organization_id, link.role, link.email, link.asked_by, expires_at)
    db.stage(_INSERT_LINK, values)


_USE_UP = f"""
delete from sign_in_link
where token_hash = %s and expires_at > %s and (asked_by is null or asked_by = %s or %s)
returning {columns(SignInLink)}
"""


def any_org_use_up(token_hash: bytes, *, asked_by: bytes | None, is_sure: bool, now: datetime) -> SignInLink | None:
    """Take a link away and return whom it signs in; None for one that is used, over, or was never there.

    A mailed one stays where another browser than the one that asked opens it, unless that `is_sure`.
    Of two who open it at once one gets it.
    """
    return _LINKS.first(_USE_UP, (token_hash, now, asked_by, is_sure))


def any_org_is_link(token_hash: bytes, *, now: datetime) -> bool:
    """Say whether a link is there, good, and not used yet."""
    return bool(db.run("select from sign_in_link where token_hash = %s and expires_at > %s", (token_hash, now)))


_TAKE_LETTER = """
insert into sign_in_letter (email_hash, place, expires_at)
select %(email)s, free.place, %(until)s from generate_series(1, %(most)s) free (place)
where not exists (
  select from sign_in_letter t where t.email_hash = %(email)s and t.place = free.place and t.expires_at > %(now)s
)
order by free.place limit 1
on conflict (email_hash, place) do update set expires_at = excluded.expires_at
  where sign_in_letter.expires_at <= %(now)s
returning 1
"""
#: How many letters an address gets until the first of them is forgotten.
MOST_LETTERS = 3


def any_org_take_letter(email_hash: bytes, *, now: datetime, until: datetime) -> bool:
    """Count a letter to an address until a time; False when it has had as many as it gets."""
    return bool(db.run(_TAKE_LETTER, {"email": email_hash, "now": now, "until": until, "most": MOST_LETTERS}))


_DROP_OVER = """
delete from {table} where ctid = any(array(
  select ctid from {table} where expires_at < %s order by expires_at limit %s for update skip locked
))
"""


def any_org_stage_drop_over(before: datetime) -> None:
    """Stage that a few sessions, links and counted letters whose time is over are dropped."""
    for table in ("web_session", "sign_in_link", "sign_in_letter"):
        db.stage(_DROP_OVER.format(table=table), (before, _MOST_DROPPED))
