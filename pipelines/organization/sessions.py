"""Sessions at the pages: begun by a link or at a provider, known by a random cookie, ended by time or by hand.

Neither a cookie nor a link can be read back from here: both are kept as a hash. Functions run in a transaction that
sees every tenant, because nobody is known yet.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain.organization.access import Role
from models.organization import web_sessions
from models.organization.web_sessions import SignInLink, WebSession
from pipelines.organization import sign_in

#: A session that nobody used for so long has ended.
IDLE = timedelta(hours=12)
#: How long a session of each kind lasts at most.
LASTS = {"member": timedelta(days=7), "account": timedelta(days=7), "operator": timedelta(hours=8)}
_SECRET_BYTES = 32
# When somebody was last seen is known to the minute, so that a page writes nothing.
_SEEN_EVERY = timedelta(minutes=1)
_LONGEST_USER_AGENT = 500


@dataclass(frozen=True, slots=True)
class Begun:
    """A session that has just begun, with the one copy of its cookie.

    `member_id` is whose it is at the dashboard; `replaced` is what this browser had before.
    """

    cookie: str
    session: WebSession
    member_id: UUID | None
    replaced: WebSession | None


def secret_hash(secret: str) -> bytes:
    """Return what a cookie or the token of a link is known by; any text has one."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def any_org_issue_link(link: SignInLink, *, now: datetime, ttl_s: int) -> tuple[str, datetime]:
    """Make a one-time link and return its token and when it ends."""
    token, expires_at = secrets.token_urlsafe(_SECRET_BYTES), now + timedelta(seconds=ttl_s)
    web_sessions.any_org_stage_link(secret_hash(token), link, expires_at=expires_at)
    return token, expires_at


def any_org_open_link(
    token: str, *, cookie: str | None, asked: str | None, is_sure: bool, user_agent: str, now: datetime
) -> Begun | None:
    """Use a link up and begin the session that it is good for; None for a link that is good for nothing here.

    A mailed link is good in the browser that has the cookie it was `asked` with, and in one whose person `is_sure`.
    What the browser's `cookie` stood for ends, and so does every session of the same person in the same organization
    that has another role.
    """
    asked_by = secret_hash(asked) if asked else None
    link = web_sessions.any_org_redeem_link(secret_hash(token), asked_by=asked_by, is_sure=is_sure, now=now)
    if link is None:
        return None
    made = new_cookie()
    session = _session_of(link, id_hash=secret_hash(made), user_agent=user_agent, now=now)
    member_id = any_org_member(session, now=now) if link.organization_id else None
    return any_org_begin(session, made=made, member_id=member_id, cookie=cookie, now=now)


def any_org_begin(
    session: WebSession, *, made: str, member_id: UUID | None, cookie: str | None, now: datetime
) -> Begun:
    """Begin a session whose cookie was just `made`; what the browser's former `cookie` stood for ends."""
    web_sessions.any_org_stage_delete_expired(now)
    replaced = web_sessions.any_org_end(secret_hash(cookie)) if cookie else None
    web_sessions.any_org_insert({name: getattr(session, name) for name in WebSession.__dataclass_fields__})
    return Begun(made, session, member_id, replaced)


def new_cookie() -> str:
    """Return a cookie that nobody has."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def kept_user_agent(told: str) -> str | None:
    """Return what is kept of what a browser says that it is."""
    return told.replace("\x00", "")[:_LONGEST_USER_AGENT] or None


def any_org_find(cookie: str, *, now: datetime) -> WebSession | None:
    """Return the session of a cookie while it lasts, and note that it was used.

    Budget: 1 statement; once a minute another travels with the commit.
    """
    found = web_sessions.any_org_find(id_hash=secret_hash(cookie), now=now, seen_since=now - IDLE)
    if found is not None and now - found.seen_at > _SEEN_EVERY:
        web_sessions.any_org_stage_seen(id_hash=found.id_hash, at=now)
    return found


def local_subject(email: str) -> str:
    """Return who an address is to this service where no identity provider vouches for it, as in its own tokens."""
    return f"local:{email}"


def _session_of(link: SignInLink, *, id_hash: bytes, user_agent: str, now: datetime) -> WebSession:
    return WebSession(
        id_hash=id_hash,
        kind=link.kind,
        organization_id=link.organization_id,
        role=link.role,
        subject=local_subject(link.email),
        email=link.email,
        is_email_verified=True,
        signed_in_at=now,
        seen_at=now,
        expires_at=now + LASTS[link.kind],
        user_agent=kept_user_agent(user_agent),
    )


def any_org_member(session: WebSession, *, now: datetime) -> UUID | None:
    """Return the member who signs in, made now if need be, and end their sessions that have another role.

    None where their organization is not there.
    """
    assert session.organization_id is not None  # it is a member's
    role = Role(session.role or "")
    web_sessions.any_org_stage_end_other_roles(
        subject=session.subject, organization_id=session.organization_id, role=role
    )
    standing = sign_in.member(
        organization_id=session.organization_id,
        subject=session.subject,
        email=session.email,
        is_email_verified=session.is_email_verified,
        role=role,
        now=now,
    )
    return standing.id if standing else None
