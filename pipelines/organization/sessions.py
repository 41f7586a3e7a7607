"""Browser sessions: started by a link or at a provider, identified by a random cookie, ended by time or by the user.

Cookies and link tokens are stored as hashes only. Functions run in a transaction that sees every tenant, because the
user is not known yet. `link_sign_in` starts sessions by links.
"""

import dataclasses
import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters.secret_key import sealing
from domain.organization.access import Role
from models.organization import memberships, web_sessions
from models.organization.web_sessions import LiveSession, SignInLink, WebSession
from pipelines.organization import second_factor, sign_in
from pipelines.organization.second_factor import CodeResult

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


def any_org_start(
    session: WebSession, *, new_cookie: str, member_id: UUID | None, cookie: str | None, now: datetime
) -> StartedSession:
    """Start a session with its `new_cookie`; the session of the browser's former `cookie` ends."""
    web_sessions.any_org_stage_delete_expired(now)
    replaced = web_sessions.any_org_end(secret_hash(cookie)) if cookie else None
    web_sessions.any_org_insert({name: getattr(session, name) for name in WebSession.__dataclass_fields__})
    return StartedSession(new_cookie, session, member_id, replaced)


def any_org_switch(cookie: str, *, organization_id: UUID, now: datetime) -> StartedSession | None:
    """Move the session of a cookie to another organization of its member, under a new cookie; None if it is not theirs.

    It keeps its login and its end.
    """
    session = any_org_find(cookie, now=now)
    if session is None or session.kind != "member" or not session.is_email_verified:
        return None
    rows = memberships.any_org_list_memberships(email=session.email, subject=session.subject)
    membership = next((row for row in rows if row.organization_id == organization_id), None)
    member = any_org_enter(organization_id, session.email, session.subject) if membership else None
    if member is None:
        return None
    member_id, role = member
    return _replace(session, cookie, member_id, now=now, organization_id=organization_id, role=role)


def any_org_confirm(cookie: str, code: str, *, now: datetime) -> StartedSession | CodeResult | None:
    """Renew the login of a member's session by a code of the second factor, under a new cookie; or how it was refused.

    None without such a session. The caller commits in each case.
    """
    session = any_org_find(cookie, now=now)
    if session is None or session.kind != "member" or session.issuer is not None:
        return None
    result = second_factor.use_code(session.email, code, now=now)
    if result != "right":
        return result
    return _replace(session, cookie, None, now=now, signed_in_at=now, signed_in_by="code")


def any_org_end_others(email: str, *, kept: bytes | None) -> None:
    """End the sessions that links to an email address have started, except the one whose id has the `kept` hash."""
    web_sessions.any_org_stage_end_others(subject=local_subject(email), kept=kept)


def any_org_enter(organization_id: UUID, email: str, subject: str) -> tuple[UUID, str] | None:
    """Return the id and role of the member with a verified email, who signs in as `subject` from now on.

    None without such a member, or if the team has removed them. The member stays locked, so that they cannot be removed
    until the session has started, and then it ends with the removal.
    """
    member = memberships.lock_by_email(organization_id=organization_id, email=email)
    if member is None or member.removed_at is not None:
        return None
    if member.subject != subject:
        memberships.stage_subject(organization_id=organization_id, member_id=member.id, subject=subject)
    return member.id, member.role


def create_cookie() -> str:
    """Return a new random cookie."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def trim_user_agent(header: str) -> str | None:
    """Return a User-Agent header as it is stored."""
    return header.replace("\x00", "")[:_MAX_USER_AGENT] or None


def any_org_find(cookie: str, *, now: datetime) -> LiveSession | None:
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


def _replace(
    session: LiveSession, cookie: str, member_id: UUID | None, *, now: datetime, **changes: object
) -> StartedSession:
    """Return the session that takes the place of a live one, under a new cookie."""
    new_cookie = create_cookie()
    id_hash, token = secret_hash(new_cookie), None
    if session.refresh_sealed is not None:
        # Not through the cache of sealed secrets, which lives as long as the process.
        token = sealing.unseal.__wrapped__(session.refresh_sealed, belongs_to=session.id_hash.hex())
    sealed = sealing.seal(token, belongs_to=id_hash.hex()) if token else None
    values = {name: getattr(session, name) for name in WebSession.__dataclass_fields__}
    replacement = WebSession(**values | {"id_hash": id_hash, "seen_at": now, "refresh_sealed": sealed})
    return any_org_start(
        dataclasses.replace(replacement, **changes),  # type: ignore[arg-type]  # fields of the session
        new_cookie=new_cookie,
        member_id=member_id,
        cookie=cookie,
        now=now,
    )
