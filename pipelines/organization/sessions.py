"""Browser sessions: started by a link or at a provider, identified by a random cookie, ended by time or by the user.

Cookies and link tokens are stored as hashes only. Functions run in a transaction that sees every tenant, because the
user is not known yet.
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

#: A session that was not used for this long has ended.
MAX_IDLE = timedelta(hours=12)
#: The maximum lifetime of a session of each kind.
LIFETIMES = {"member": timedelta(days=7), "account": timedelta(days=7), "operator": timedelta(hours=8)}
_SECRET_BYTES = 32
# The last use is recorded to the minute, so that most page views write nothing.
_SEEN_EVERY = timedelta(minutes=1)
_MAX_USER_AGENT = 500


@dataclass(frozen=True, slots=True)
class StartedSession:
    """A session that has just started, with the only copy of its cookie.

    `member_id` is its member at the dashboard; `replaced` is the browser's former session.
    """

    cookie: str
    session: WebSession
    member_id: UUID | None
    replaced: WebSession | None


def secret_hash(secret: str) -> bytes:
    """Return the hash under which a cookie or the token of a link is stored; defined for any text."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def any_org_issue_link(link: SignInLink, *, now: datetime, ttl_s: int) -> tuple[str, datetime]:
    """Create a one-time link and return its token and expiry."""
    token, expires_at = secrets.token_urlsafe(_SECRET_BYTES), now + timedelta(seconds=ttl_s)
    web_sessions.any_org_stage_link(secret_hash(token), link, expires_at=expires_at)
    return token, expires_at


def any_org_open_link(
    token: str, *, cookie: str | None, browser_secret: str | None, is_sure: bool, user_agent: str, now: datetime
) -> StartedSession | None:
    """Use a link up and start its session; None for an invalid link.

    An emailed link is valid in the browser that requested it (`browser_secret`), and in one whose user `is_sure`.
    The session of the browser's former `cookie` ends, and so does every session of the same person in the same
    organization with another role.
    """
    asked_by = secret_hash(browser_secret) if browser_secret else None
    link = web_sessions.any_org_redeem_link(secret_hash(token), asked_by=asked_by, is_sure=is_sure, now=now)
    if link is None:
        return None
    new_cookie = create_cookie()
    session = _session_of(link, id_hash=secret_hash(new_cookie), user_agent=user_agent, now=now)
    member_id = any_org_sign_member_in(session, now=now) if link.organization_id else None
    return any_org_start(session, new_cookie=new_cookie, member_id=member_id, cookie=cookie, now=now)


def any_org_start(
    session: WebSession, *, new_cookie: str, member_id: UUID | None, cookie: str | None, now: datetime
) -> StartedSession:
    """Start a session with its `new_cookie`; the session of the browser's former `cookie` ends."""
    web_sessions.any_org_stage_delete_expired(now)
    replaced = web_sessions.any_org_end(secret_hash(cookie)) if cookie else None
    web_sessions.any_org_insert({name: getattr(session, name) for name in WebSession.__dataclass_fields__})
    return StartedSession(new_cookie, session, member_id, replaced)


def create_cookie() -> str:
    """Return a new random cookie."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def trim_user_agent(header: str) -> str | None:
    """Return a User-Agent header as it is stored."""
    return header.replace("\x00", "")[:_MAX_USER_AGENT] or None


def any_org_find(cookie: str, *, now: datetime) -> WebSession | None:
    """Return the live session of a cookie, and record its use.

    Budget: 1 statement; once a minute another travels with the commit.
    """
    session = web_sessions.any_org_find(id_hash=secret_hash(cookie), now=now, seen_since=now - MAX_IDLE)
    if session is not None and now - session.seen_at > _SEEN_EVERY:
        web_sessions.any_org_stage_seen(id_hash=session.id_hash, at=now)
    return session


def local_subject(email: str) -> str:
    """Return the subject of an email address without an identity provider, as in our own tokens."""
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
        expires_at=now + LIFETIMES[link.kind],
        user_agent=trim_user_agent(user_agent),
    )


def any_org_sign_member_in(session: WebSession, *, now: datetime) -> UUID | None:
    """Return the member who signs in, created if necessary, and end their sessions with another role.

    None if their organization does not exist.
    """
    assert session.organization_id is not None  # it is a member's
    role = Role(session.role or "")
    web_sessions.any_org_stage_end_other_roles(
        subject=session.subject, organization_id=session.organization_id, role=role
    )
    member = sign_in.sign_member_in(
        organization_id=session.organization_id,
        subject=session.subject,
        email=session.email,
        is_email_verified=session.is_email_verified,
        role=role,
        now=now,
    )
    return member.id if member else None
