"""Browser sessions, and the one-time links that start them. Both are stored under a hash."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class WebSession:
    """A session. `kind` is member, account (an affiliate) or operator; a member has organization and role.

    With an identity provider, `issuer` is the provider, `refreshed_at` when it last confirmed the person,
    `refresh_from` when to ask it again, and `refresh_sealed` its refresh token, if any. If it did not report the login
    time (not `is_login_dated`), `signed_in_at` is when the session began, and does not prove a recent login.
    `signed_in_by` is how the person last proved who they are: a link from the shell, from an email or from an
    invitation, a code of their second factor, or a provider.
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
    signed_in_by: str = "shell"


@dataclass(frozen=True, slots=True)
class LiveSession(WebSession):
    """A session with the organizations of its member's verified email: id, name and role of each."""

    organizations: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True, slots=True)
class SignInLink:
    """The person whom a one-time link signs in; `asked_by` is the cookie hash of the browser that requested it.

    `via` is where it was given out: in the shell, in an email, or for an invitation.
    """

    kind: str
    organization_id: UUID | None
    role: str | None
    email: str
    asked_by: bytes | None = None
    via: str = "shell"

    @property
    def has_open_destination(self) -> bool:
        """Whether it opens what its email address may open when it is used: as a member, or as an affiliate."""
        return self.kind == "account" and self.via == "email"


_SESSIONS = Table("web_session", WebSession, key=("id_hash",))
#: Insert a session.
any_org_insert = _SESSIONS.insert
_LINKS = Rows(SignInLink)
# Expired rows are deleted a few at a time by later sign-ins.
_MAX_DELETED = 100


_LIVE = Rows(LiveSession)
#: How many organizations a session carries for the switcher: the present one, and those that were visited last.
MAX_ORGANIZATIONS = 20
# Of several members with this email in one organization, the one who has this subject, else the first.
_ORGANIZATIONS = f"""(
  select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'role', t.role)
    order by lower(t.name), t.id), '[]')
  from (
    select * from (
      select distinct on (o.id) o.id, o.name, m.role, m.seen_at
      from member m join organization o on o.id = m.organization_id
      where s.kind = 'member' and s.is_email_verified and m.email = s.email and m.is_email_verified
        and m.removed_at is null
      order by o.id, m.subject is not distinct from s.subject desc, m.created_at, m.id) u
    order by u.id = s.organization_id desc, u.seen_at desc, u.id limit {MAX_ORGANIZATIONS}) t)"""
_FIND = f"""
select {columns(LiveSession, "s", organizations=_ORGANIZATIONS)} from web_session s
where id_hash = %s and expires_at > %s and seen_at > %s
"""


def any_org_find(*, id_hash: bytes, now: datetime, seen_since: datetime) -> LiveSession | None:
    """Return an unexpired session that was seen since a time; None for any other. Budget: 1 statement."""
    return _LIVE.first(_FIND, (id_hash, now, seen_since))


def any_org_stage_seen(*, id_hash: bytes, at: datetime) -> None:
    """Stage the time at which a session was last seen."""
    db.stage("update web_session set seen_at = %s where id_hash = %s", (at, id_hash))


_CLAIM_REFRESH = "update web_session set refresh_from = %s where id_hash = %s and refresh_from <= %s returning 1"


def any_org_claim_refresh(*, id_hash: bytes, now: datetime, until: datetime) -> bool:
    """Claim the refresh of a session until a time; False if another request has it, or the session is gone."""
    return bool(db.run(_CLAIM_REFRESH, (until, id_hash, now)))


_REFRESHED = """
update web_session set role = case when %s then role else %s end, email = %s, is_email_verified = %s,
  refreshed_at = %s, refresh_from = %s, refresh_sealed = %s
where id_hash = %s
returning 1
"""


def any_org_refresh(session: WebSession, *, keeps_role: bool) -> bool:
    """Store the refreshed values of a session; False if the session has ended meanwhile.

    It `keeps_role` where the team list sets it, which may have changed since the session was read.
    """
    person = (keeps_role, session.role, session.email, session.is_email_verified)
    refresh = (session.refreshed_at, session.refresh_from, session.refresh_sealed)
    return bool(db.run(_REFRESHED, (*person, *refresh, session.id_hash)))


def any_org_stage_refresh_from(*, id_hash: bytes, at: datetime) -> None:
    """Stage the time of the next refresh of a session at its identity provider."""
    db.stage("update web_session set refresh_from = %s where id_hash = %s", (at, id_hash))


_END = f"delete from web_session where id_hash = %s returning {_SESSIONS.columns}"


def any_org_end(id_hash: bytes) -> WebSession | None:
    """End a session and return its last state; None for an unknown one."""
    return _SESSIONS.first(_END, (id_hash,))


def any_org_end_all(*, kind: str, subject: str) -> int:
    """End every session of a person and return how many there were."""
    return len(db.run("delete from web_session where kind = %s and subject = %s returning 1", (kind, subject)))


_END_OTHERS = """
delete from web_session where kind in ('member', 'account') and subject = %s and id_hash is distinct from %s
"""


def any_org_stage_end_others(*, subject: str, kept: bytes | None) -> None:
    """Stage the end of a person's sessions as a member and as an affiliate, except the `kept` one."""
    db.stage(_END_OTHERS, (subject, kept))


_END_OTHER_ROLES = """
delete from web_session where kind = 'member' and subject = %s and organization_id = %s and role <> %s
"""


def any_org_stage_end_other_roles(*, subject: str, organization_id: UUID, role: str) -> None:
    """Stage the end of a person's sessions in an organization that have another role."""
    db.stage(_END_OTHER_ROLES, (subject, organization_id, role))


@dataclass(frozen=True, slots=True)
class MemberSession:
    """A member's session as their organization sees it. `id` identifies it and is not its secret."""

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


def list_of_members(*, organization_id: UUID, now: datetime, seen_since: datetime, limit: int) -> list[MemberSession]:
    """Return the live sessions of an organization's members, last seen first. Budget: 1 statement."""
    return _MEMBER_SESSIONS.all(_OF_MEMBERS, (organization_id, now, seen_since, limit))


_END_OF_MEMBER = """
delete from web_session where organization_id = %s and kind = 'member' and subject = %s returning 1
"""


def end_of_member(*, organization_id: UUID, subject: str) -> int:
    """End a member's sessions in their organization and return how many there were."""
    return len(db.run(_END_OF_MEMBER, (organization_id, subject)))


_INSERT_LINK = """
insert into sign_in_link (token_hash, kind, organization_id, role, email, asked_by, via, expires_at)
values (%s, %s, %s, %s, %s, %s, %s, %s)
"""


def any_org_stage_link(token_hash: bytes, link: SignInLink, *, expires_at: datetime) -> None:
    """Stage a one-time link."""
    values = (token_hash, link.kind, link.organization_id, link.role, link.email, link.asked_by, link.via, expires_at)
    db.stage(_INSERT_LINK, values)


_LOCK_LINK = f"select {columns(SignInLink)} from sign_in_link where token_hash = %s and expires_at > %s for update"


def any_org_lock_link(token_hash: bytes, *, now: datetime) -> SignInLink | None:
    """Return an unexpired link, locked until the transaction ends; None for a used, expired or unknown one.

    Of two concurrent requests one waits, and finds no link if the other has used it up.
    """
    return _LINKS.first(_LOCK_LINK, (token_hash, now))


def any_org_stage_use(token_hash: bytes) -> None:
    """Stage the deletion of a locked link that was used."""
    db.stage("delete from sign_in_link where token_hash = %s", (token_hash,))


_COUNT_EMAIL = """
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
#: How many emails an address may get until the first of them is forgotten.
MAX_EMAILS = 3


def any_org_count_email(email_hash: bytes, *, now: datetime, until: datetime) -> bool:
    """Count an email to an address until a time; False when the limit is reached."""
    return bool(db.run(_COUNT_EMAIL, {"email": email_hash, "now": now, "until": until, "most": MAX_EMAILS}))


_DELETE_EXPIRED = """
delete from {table} where ctid = any(array(
  select ctid from {table} where expires_at < %s order by expires_at limit %s for update skip locked
))
"""


def any_org_stage_delete_expired(before: datetime) -> None:
    """Stage the deletion of a few expired sessions, links and email counts."""
    for table in ("web_session", "sign_in_link", "sign_in_letter"):
        db.stage(_DELETE_EXPIRED.format(table=table), (before, _MAX_DELETED))
