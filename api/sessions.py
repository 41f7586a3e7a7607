"""What begins and ends a session of a person at the pages; each leaves an audit entry. The pages hold the cookie."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from uuid import UUID

from flask import g, request

from adapters import clock
from adapters.identity import tokens
from api.access import persons
from api.access.persons import Person, PersonKind
from api.edge.wake import wake_relay
from models import db
from models.organization import audit, web_sessions
from models.organization.web_sessions import WebSession
from pipelines.organization import provider_sessions, sessions, sign_in_emails
from pipelines.organization.sessions import StartedSession

#: The kinds of sessions that begin at a provider, by their names in an address.
PROVIDED = MappingProxyType({"dashboard": "member", "affiliate": "account", "operator": "operator"})
_ACTORS = {"member": "member", "account": "affiliate", "operator": "operator"}
_LONGEST_USER_AGENT = 500


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that has just begun: the one copy of its cookie, how many seconds that lasts, and whose it is."""

    cookie: str
    lasts_s: int
    kind: PersonKind
    subject: str
    organization_id: UUID | None


def ask_for_link(*, email: str, asked: str, back: str | None) -> None:
    """Have a link mailed if the address is an affiliate's, which nobody learns here.

    `asked` is the cookie of the browser that asks, `back` the page of ours that it wants to see.
    """
    with db.any_org_work():
        sign_in_emails.any_org_stage_request(email=email, browser_secret=asked, back=back)
    wake_relay()


def gives_links(kind: str) -> bool:
    """Say whether people of a kind (dashboard or affiliate) get links from here, and no identity provider has them."""
    try:
        tokens.check_local(kind)
    except tokens.NotLocal:
        return False
    return True


def is_link(token: str) -> bool:
    """Say whether a link is good and not used yet."""
    with db.any_org_work():
        return web_sessions.any_org_is_valid_link(sessions.secret_hash(token), now=clock.now())


def provided_by(kind: PersonKind) -> str:
    """Return who signs in people of a kind, as /sign-in/with/ says it."""
    return next(by for by, provided in PROVIDED.items() if provided == kind)


def providers() -> list[tuple[str, str]]:
    """Return who is signed in at an identity provider, as /sign-in/with/ says it, and what people call the provider."""
    clients = {by: provider_sessions.client(kind) for by, kind in PROVIDED.items()}
    return [(by, client.name) for by, client in clients.items() if client is not None]


def stage_record_of(begun: StartedSession, *, by: str) -> NewSession:
    """Stage the audit entries of a session that begins, and return what its browser is given."""
    _record("session.began", begun.session, begun.member_id, {"by": by, "role": begun.session.role})
    if begun.replaced is not None:
        _record("session.ended", begun.replaced, None, {"by": "sign-in"})
    who = begun.session
    lasts_s = int((who.expires_at - who.seen_at).total_seconds())
    kind: PersonKind = who.kind  # type: ignore[assignment]  # the database knows these three
    return NewSession(begun.cookie, lasts_s, kind, who.subject, who.organization_id)


def open_link(token: str, *, cookie: str | None, asked: str | None, is_sure: bool = False) -> NewSession | None:
    """Use up a one-time link and begin its session; None for a link that is used, over or unknown.

    A mailed one needs the cookie that it was `asked` with, or somebody who `is_sure`. What the browser's `cookie` stood
    for ends with that.
    """
    with db.any_org_work():
        begun = sessions.any_org_open_link(
            token, cookie=cookie, browser_secret=asked, is_sure=is_sure, user_agent=user_agent() or "", now=clock.now()
        )
        made = stage_record_of(begun, by="link") if begun is not None else None
    if cookie:
        persons.forget(cookie)
    return made


def end(cookie: str, person: Person) -> None:
    """End the session of a cookie. What is over already stays so."""
    with db.any_org_work():
        ended = web_sessions.any_org_end(person.session)
        if ended is not None:
            _record("session.ended", ended, _member_id(person), {"by": "sign-out"})
    persons.forget(cookie)


def end_everywhere(cookie: str, person: Person) -> None:
    """End every session of a person, this one and those in other browsers."""
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
        entity_type="session",
        entity_id=session.id_hash.hex(),
        actor_type=_ACTORS[session.kind],
        actor_user_id=member_id,
        actor_label=session.email or session.subject,
        ip=request.remote_addr,
        user_agent=user_agent(),
        request_id=g.request_id,
        before=None,
        after=after,
        at=clock.now(),
    )


def _member_id(person: Person) -> UUID | None:
    return person.member.id if person.member else None


def user_agent() -> str | None:
    """Return what the browser says that it is."""
    return request.headers.get("User-Agent", "").replace("\x00", "")[:_LONGEST_USER_AGENT] or None
