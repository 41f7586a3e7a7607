"""Who sits at a page: a person with a session, as the pages pass them on to the operations of the api.

The cookie of a session is no credential of the api: only a page, which has looked the session up and knows that the
request comes from itself, can put a person into the environment of the request that it makes within this process. No
header of the network gets there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from adapters import clock
from adapters.identity import tokens
from adapters.identity.tokens import Claims
from api.access import callers, strangers
from api.access.callers import Caller
from models import db
from models.organization.web_sessions import WebSession
from pipelines.organization import provider_sessions, sessions
from pipelines.organization.sign_in import SignedInAffiliate

PersonKind = Literal["member", "account", "operator"]

#: Where a request made within this process carries the person it is made for.
ENVIRON_KEY = "finderfee.person"

_CACHE = "session"
# Whose identity provider takes the place of our own links, where one is configured.
_PROVIDERS = {"member": "dashboard", "account": "affiliate"}


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a session. A member speaks for an organization, an account is an affiliate's, an operator has none.

    `name` is their address where it is proved, else their subject. `session` is what the session is known by: never the
    cookie. One that `is_due` has its provider asked again at the next page.
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


def calling(environ: Mapping[str, Any]) -> Person | None:
    """Return whom a page makes this request for; None for every request that came over the network."""
    found: Person | None = environ.get(ENVIRON_KEY)
    return found


def to_carry(environ: Mapping[str, Any]) -> Mapping[str, object]:
    """Return what a further request within the process carries of the person that this one is made for."""
    person = calling(environ)
    return {ENVIRON_KEY: person} if person is not None else {}


def of_cookie(cookie: str | None) -> Person | None:
    """Return who is signed in with a cookie; None when nobody is.

    What is found is remembered as keys are: a session that ended elsewhere, and a role that changed, take effect
    within KEY_CACHE_S; what a provider says anew, when it is asked again. Budget: 2 statements, none within KEY_CACHE_S
    after the last; where the provider is asked, once in 15 minutes, 4 round trips and that call besides.
    """
    return callers.looked_up(cookie, _CACHE, _find)


def forget(cookie: str) -> None:
    """Forget who was signed in with a cookie: that session has just ended."""
    callers.forget(cookie, _CACHE)


def _find(cookie: str) -> tuple[Person | None, float]:
    if strangers.are_stopped() and not callers.is_known(cookie, _CACHE):
        return None, 0
    now = clock.now()
    with db.any_org_work():
        session = sessions.any_org_find(cookie, now=now)
    if session is None:
        strangers.count()
        return None, 0
    standing = provider_sessions.renew(session, now=now)
    if standing is None:
        return None, 0
    until = min(standing.expires_at, standing.refresh_from or standing.expires_at)
    return _person(standing, now=now), (until - now).total_seconds()


def _person(session: WebSession, *, now: datetime) -> Person | None:
    """Return whose session this is.

    None for a session of our own links where a provider says by now who people are, and where the organization is gone.
    """
    kind: PersonKind = session.kind  # type: ignore[assignment]  # the database knows these three
    if kind in _PROVIDERS and session.issuer is None:
        try:
            tokens.check_local(_PROVIDERS[kind])
        except tokens.NotLocal:
            return None
    claims = _claims(session)
    member = callers.member_of(claims) if kind == "member" else None
    if kind == "member" and member is None:
        return None
    return Person(
        kind=kind,
        subject=session.subject,
        email=session.email,
        name=session.email if session.is_email_verified else session.subject,
        session=session.id_hash,
        signed_in_at=_logged_in_at(session),
        expires_at=session.expires_at,
        member=member,
        account=callers.account_of(claims) if kind == "account" else None,
        is_due=provider_sessions.needs_browser_check(session, now=now),
    )


def _claims(session: WebSession) -> Claims:
    """Return what a token of this person would say: a session is one that somebody logged in to."""
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
    """Return when somebody logged in; where nobody says, that is too long ago for everything."""
    return session.signed_in_at if session.is_login_dated else datetime.fromtimestamp(0, UTC)
