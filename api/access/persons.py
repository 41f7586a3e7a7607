"""People with a session, as the pages pass them on to the operations of the API.

A session cookie is not a credential of the API. Only a page, which has looked up the session and checked that the
request comes from itself, puts the person into the environment of an internal request; no header from the network can.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from adapters import clock
from adapters.identity import tokens
from adapters.identity.tokens import Claims
from api.access import callers, member_callers, unknown_senders
from api.access.callers import Caller
from models import db
from models.organization.web_sessions import WebSession
from pipelines.organization import provider_sessions, sessions
from pipelines.organization.sign_in import SignedInAffiliate
from pipelines.organization.team import changes

PersonKind = Literal["member", "account", "operator"]

#: The key of the person in the environment of an internal request.
ENVIRON_KEY = "finderfee.person"

_CACHE = "session"
# The proofs of a member without an identity provider, and how long they count as a fresh login (decision 77).
_PROOFS = frozenset({"email", "code"})
_PROOF_LASTS_S = 600
# The names of the identity providers that replace our own sign-in links, if one is configured.
_PROVIDERS = {"member": "dashboard", "account": "affiliate"}


@dataclass(frozen=True, slots=True)
class OwnOrganization:
    """An organization that a signed-in person belongs to, with their role there."""

    id: UUID
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Person:
    """A person with a session: a member of an organization, an affiliate account, or an operator.

    `name` is the email if it is verified, else the subject. `session` is the hash of the session id, never the cookie.
    If `is_due`, the next page checks the session with its provider again. `organizations` are all that a member can
    switch to, with the present one. `lacks_second_factor`: the present one requires a second factor, which the person
    has to set up first.
    """

    kind: PersonKind
    subject: str
    email: str
    name: str
    session: bytes
    signed_in_at: datetime
    expires_at: datetime
    member: Caller | None = None
    account: SignedInAffiliate | None = None
    is_due: bool = False
    organizations: tuple[OwnOrganization, ...] = ()
    lacks_second_factor: bool = False


def person_from_environ(environ: Mapping[str, Any]) -> Person | None:
    """Return the person whom a page makes this request for; None for a request from the network."""
    person: Person | None = environ.get(ENVIRON_KEY)
    return person


def internal_environ(environ: Mapping[str, Any]) -> Mapping[str, object]:
    """Return the environment entries that pass this request's person on to a further internal request."""
    person = person_from_environ(environ)
    return {ENVIRON_KEY: person} if person is not None else {}


def find_by_cookie(cookie: str | None, *, is_current: bool = False) -> Person | None:
    """Return the person who is signed in with a cookie, or None.

    People are cached like keys: a session that ended elsewhere and a changed role take effect within KEY_CACHE_S, and
    at once for a request that needs the current state; a change at the provider when it is asked again. Budget: 2
    statements, none within KEY_CACHE_S after the last; when the provider is asked, once in 15 minutes, 4 more round
    trips and the call.
    """
    return callers.find_cached(cookie, _CACHE, _find, is_current=is_current)


def forget(cookie: str) -> None:
    """Remove a cookie whose session has just ended from the cache."""
    callers.forget(cookie, _CACHE)


def _find(cookie: str) -> tuple[Person | None, float]:
    if unknown_senders.is_blocked() and not callers.is_cached(cookie, _CACHE):
        return None, 0
    now = clock.now()
    with db.any_org_work():
        session = sessions.any_org_find(cookie, now=now)
    if session is None:
        unknown_senders.count_unknown()
        return None, 0
    renewed = provider_sessions.renew(session, now=now)
    if renewed is None:
        return None, 0
    until = min(renewed.expires_at, renewed.refresh_from or renewed.expires_at)
    person = _person_from_session(renewed, organizations=session.organizations, now=now)
    # A person who lacks a second factor is looked up each time, and continues as soon as they have set it up.
    lasts_s = 0 if person is None or person.lacks_second_factor else (until - now).total_seconds()
    return person, lasts_s


def _person_from_session(
    session: WebSession, *, organizations: Sequence[Mapping[str, str]], now: datetime
) -> Person | None:
    """Return the person of a session.

    None if the session began with one of our links but a provider has been configured since, or if the organization no
    longer exists.
    """
    kind: PersonKind = session.kind  # type: ignore[assignment]  # the database knows these three
    if kind in _PROVIDERS and session.issuer is None:
        try:
            tokens.check_local(_PROVIDERS[kind])
        except tokens.NotLocal:
            return None
    claims = _claims_from_session(session)
    member = _member_of_session(session, claims) if kind == "member" else None
    if kind == "member" and member is None:
        return None
    own = [OwnOrganization(UUID(row["id"]), row["name"], row["role"]) for row in organizations]
    can_switch = changes.is_managed_here()
    return Person(
        kind=kind,
        subject=session.subject,
        email=session.email,
        name=session.email if session.is_email_verified else session.subject,
        session=session.id_hash,
        signed_in_at=_logged_in_at(session),
        expires_at=session.expires_at,
        member=member,
        account=member_callers.account_from_claims(claims) if kind == "account" else None,
        is_due=provider_sessions.needs_browser_check(session, now=now),
        organizations=tuple(row for row in own if can_switch or row.id == session.organization_id),
        lacks_second_factor=member is not None and member.lacks_second_factor,
    )


def _member_of_session(session: WebSession, claims: Claims) -> Caller | None:
    """Return the member of a session: as the team list has them, or as the provider's claims say."""
    if session.issuer is not None and not changes.takes_roles_from_members():
        return member_callers.member_from_claims(claims)
    max_login_age_s = _PROOF_LASTS_S if session.signed_in_by in _PROOFS else None
    return member_callers.member_of_session(claims, max_login_age_s=max_login_age_s)


def _claims_from_session(session: WebSession) -> Claims:
    """Return the claims that a token of this person would have; every session began with a login."""
    return Claims(
        subject=session.subject,
        email=session.email,
        is_email_verified=session.is_email_verified,
        expires_at_s=int(session.expires_at.timestamp()),
        organization_id=session.organization_id,
        role=session.role,
        session_id=session.id_hash.hex(),
        signed_in_at_s=int(_logged_in_at(session).timestamp()),
    )


def _logged_in_at(session: WebSession) -> datetime:
    """Return the time of the login; the epoch, too old for every check, if there was no login or its time is unknown.

    An invitation is valid for days and may be forwarded, so it is no login.
    """
    is_login = session.is_login_dated and session.signed_in_by != "invite"
    return session.signed_in_at if is_login else datetime.fromtimestamp(0, UTC)
