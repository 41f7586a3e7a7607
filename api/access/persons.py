"""Who sits at a page: a person with a session, as the pages pass them on to the operations of the api.

The cookie of a session is no credential of the api: only a page, which has looked the session up and knows that the
request comes from itself, can put a person into the environment of the request that it makes within this process. No
header of the network gets there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from adapters import clock
from adapters.identity import tokens
from adapters.identity.tokens import Claims
from api.access import callers, strangers
from api.access.callers import Caller
from models import db
from models.organization.web_sessions import WebSession
from pipelines.organization import sessions
from pipelines.organization.sign_in import SignedIn

PersonKind = Literal["member", "account", "operator"]

#: Where a request made within this process carries the person it is made for.
ENVIRON_KEY = "finderfee.person"

_CACHE = "session"
# Whose identity provider takes the place of our own links, where one is configured.
_PROVIDERS = {"member": "dashboard", "account": "affiliate"}


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a session. A member speaks for an organization, an account is an affiliate's, an operator has none.

    `session` is what the session is known by: never the cookie.
    """

    kind: PersonKind
    subject: str
    email: str
    session: bytes
    signed_in_at: datetime
    expires_at: datetime
    member: Caller | None = None
    account: SignedIn | None = None


def calling(environ: Mapping[str, Any]) -> Person | None:
    """Return whom a page makes this request for; None for every request that came over the network."""
    found: Person | None = environ.get(ENVIRON_KEY)
    return found


def of_cookie(cookie: str | None) -> Person | None:
    """Return who is signed in with a cookie; None when nobody is.

    What is found is remembered as keys are: a session that ended elsewhere, and a role that changed, take effect
    within KEY_CACHE_S. Budget: 2 statements, none within KEY_CACHE_S after the last.
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
    return _person(session), (session.expires_at - now).total_seconds()


def _person(session: WebSession) -> Person | None:
    """Return whose session this is; None where a provider says by now who people are, or the organization is gone."""
    kind: PersonKind = session.kind  # type: ignore[assignment]  # the database knows these three
    if kind in _PROVIDERS:
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
        session=session.id_hash,
        signed_in_at=session.signed_in_at,
        expires_at=session.expires_at,
        member=member,
        account=callers.account_of(claims) if kind == "account" else None,
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
        signed_in_at_s=int(session.signed_in_at.timestamp()),
    )
