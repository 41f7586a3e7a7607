"""Beginning and ending of sessions at the pages, each with an audit entry. The pages set the cookie."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from uuid import UUID

from flask import g, request

from adapters import clock
from adapters.identity import tokens
from api.access import persons, unknown_senders
from api.access.persons import Person, PersonKind
from api.edge.relay_waker import wake_relay
from models import db
from models.organization import audit, web_sessions
from models.organization.web_sessions import WebSession
from pipelines.organization import link_sign_in, provider_sessions, second_factor, sessions, sign_in_emails
from pipelines.organization.link_sign_in import LinkRequest as LinkRequest
from pipelines.organization.link_sign_in import OpenLink as OpenLink
from pipelines.organization.second_factor import CodeResult
from pipelines.organization.sessions import StartedSession
from pipelines.organization.team import changes

#: The kinds of sessions that begin at an identity provider, by the provider's name in an address.
PROVIDED = MappingProxyType({"dashboard": "member", "affiliate": "account", "operator": "operator"})
_ACTORS = {"member": "member", "account": "affiliate", "operator": "operator"}
_MAX_USER_AGENT_LENGTH = 500


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that has just begun: the only copy of its cookie, its lifetime in seconds, and its person."""

    cookie: str
    lasts_s: int
    kind: PersonKind
    subject: str
    organization_id: UUID | None


def request_link(*, email: str, request_cookie: str, back: str | None, person: Person | None) -> None:
    """Email a sign-in link if the address may sign in here; the caller does not learn whether it may.

    `request_cookie` is the cookie of the requesting browser, `back` the page that it wants to see, `person` who is
    signed in there.
    """
    with db.any_org_work():
        sign_in_emails.any_org_stage_request(
            email=email,
            browser_secret=request_cookie,
            back=back,
            network=unknown_senders.sender_network(),
            is_signed_in=person is not None and person.name == email,
        )
    wake_relay()


def gives_links(kind: str) -> bool:
    """Return whether people of a kind (dashboard or affiliate) sign in with our links, not at an identity provider."""
    try:
        tokens.check_local(kind)
    except tokens.NotLocal:
        return False
    return True


def manages_team() -> bool:
    """Return whether roles are those of the team list, not those that an identity provider's tokens carry."""
    return changes.is_managed_here()


def takes_roles_from_members() -> bool:
    """Return whether members sign in at an identity provider, and their roles are those of the team list."""
    return changes.takes_roles_from_members()


def provider_of_kind(kind: PersonKind) -> str:
    """Return the name of the provider for people of a kind, as in /sign-in/with/."""
    return next(by for by, provided in PROVIDED.items() if provided == kind)


def list_providers() -> list[tuple[str, str]]:
    """Return the configured identity providers, each with its name in /sign-in/with/ and its display name."""
    clients = {by: provider_sessions.client(kind) for by, kind in PROVIDED.items()}
    return [(by, client.name) for by, client in clients.items() if client is not None]


def stage_audit(started: StartedSession, *, by: str) -> NewSession:
    """Stage the audit entries of a session that begins, and return the session for its browser."""
    _record("session.began", started.session, started.member_id, {"by": by, "role": started.session.role})
    if started.replaced is not None:
        _record("session.ended", started.replaced, None, {"by": "sign-in"})
    who = started.session
    lasts_s = int((who.expires_at - who.seen_at).total_seconds())
    kind: PersonKind = who.kind  # type: ignore[assignment]  # the database knows these three
    return NewSession(started.cookie, lasts_s, kind, who.subject, who.organization_id)


def open_link(token: str, opening: LinkRequest) -> NewSession | OpenLink | None:
    """Begin the session of a one-time link and use the link up; or return what is missing.

    None for a link that is used, expired or unknown, or whose person lost their access. The session of the browser's
    cookie ends.
    """
    with db.any_org_work():
        opened = link_sign_in.any_org_open(token, opening, now=clock.now())
        if not isinstance(opened, StartedSession):
            return opened
        session = stage_audit(opened, by="link")
    if opening.cookie:
        persons.forget(opening.cookie)
    return session


def switch_organization(cookie: str, organization_id: UUID) -> NewSession | None:
    """Move this browser's session to another organization of its person; None if they are not a member there."""
    if not changes.is_managed_here():
        return None
    with db.any_org_work():
        started = sessions.any_org_switch(cookie, organization_id=organization_id, now=clock.now())
        session = stage_audit(started, by="switch") if started is not None else None
    persons.forget(cookie)
    return session


def confirm_login(cookie: str, code: str) -> NewSession | CodeResult | None:
    """Renew the login of this browser's session by a code of the second factor; or return how it was refused."""
    with db.any_org_work():
        confirmed = sessions.any_org_confirm(cookie, code, now=clock.now())
        if not isinstance(confirmed, StartedSession):
            return confirmed
        session = stage_audit(confirmed, by="code")
    persons.forget(cookie)
    return session


def has_second_factor(email: str) -> bool:
    """Return whether a person has a second factor. Budget: 1 round trip."""
    with db.any_org_work():
        return second_factor.is_enabled(email)


def end(cookie: str, person: Person) -> None:
    """End the session of a cookie, if it has not ended already."""
    with db.any_org_work():
        ended = web_sessions.any_org_end(person.session)
        if ended is not None:
            _record("session.ended", ended, _member_id(person), {"by": "sign-out"})
    persons.forget(cookie)


def end_everywhere(cookie: str, person: Person) -> None:
    """End all sessions of a person, in this and other browsers."""
    with db.any_org_work():
        ended = web_sessions.any_org_end(person.session)
        others = web_sessions.any_org_end_all(kind=person.kind, subject=person.subject)
        if ended is not None:
            _record("session.ended", ended, _member_id(person), {"by": "sign-out everywhere", "others": others})
    persons.forget(cookie)


def _record(action: str, session: WebSession, member_id: UUID | None, after: Mapping[str, object]) -> None:
    audit.stage(
        organization_id=session.organization_id,
        action=action,
        entity_id=session.id_hash.hex(),
        actor_type=_ACTORS[session.kind],
        actor_user_id=member_id,
        actor_label=session.email or session.subject,
        ip=request.remote_addr,
        user_agent=user_agent(),
        request_id=g.request_id,
        after=after,
        at=clock.now(),
    )


def _member_id(person: Person) -> UUID | None:
    return person.member.id if person.member else None


def user_agent() -> str | None:
    """Return the browser's User-Agent header, shortened."""
    return request.headers.get("User-Agent", "").replace("\x00", "")[:_MAX_USER_AGENT_LENGTH] or None
