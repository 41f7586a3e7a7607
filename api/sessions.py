"""What begins and ends a session of a person at the pages; each leaves an audit entry. The pages hold the cookie."""

from collections.abc import Mapping
from uuid import UUID

from flask import g, request

from adapters import clock
from adapters.identity import tokens
from api.access import persons
from api.access.persons import Person
from api.edge.wake import wake_relay
from models import db
from models.organization import audit, web_sessions
from models.organization.web_sessions import WebSession
from pipelines.organization import mailed_links, sessions
from pipelines.organization.sessions import Begun

_ACTORS = {"member": "member", "account": "affiliate", "operator": "operator"}
_LONGEST_USER_AGENT = 500


def ask_for_link(*, email: str, asked: str, back: str | None) -> None:
    """Have a link mailed if the address is an affiliate's, which nobody learns here.

    `asked` is the cookie of the browser that asks, `back` the page of ours that it wants to see.
    """
    with db.any_org_work():
        mailed_links.any_org_stage_asked(email=email, asked=asked, back=back)
    wake_relay()


def mails_links() -> bool:
    """Say whether affiliates get links from here, and no identity provider signs them in."""
    try:
        tokens.check_local("affiliate")
    except tokens.NotLocal:
        return False
    return True


def is_link(token: str) -> bool:
    """Say whether a link is good and not used yet."""
    with db.any_org_work():
        return web_sessions.any_org_is_link(sessions.secret_hash(token), now=clock.now())


def open_link(token: str, *, cookie: str | None, asked: str | None, is_sure: bool = False) -> Begun | None:
    """Use up a one-time link and begin its session; None for a link that is used, over or unknown.

    A mailed one needs the cookie that it was `asked` with, or somebody who `is_sure`. What the browser's `cookie` stood
    for ends with that.
    """
    with db.any_org_work():
        begun = sessions.any_org_open_link(
            token, cookie=cookie, asked=asked, is_sure=is_sure, user_agent=_user_agent() or "", now=clock.now()
        )
        if begun is not None:
            _record("session.began", begun.session, begun.member_id, {"by": "link", "role": begun.session.role})
            if begun.replaced is not None:
                _record("session.ended", begun.replaced, None, {"by": "sign-in"})
    if cookie:
        persons.forget(cookie)
    return begun


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
        actor_label=session.email,
        ip=request.remote_addr,
        user_agent=_user_agent(),
        request_id=g.request_id,
        before=None,
        after=after,
        at=clock.now(),
    )


def _member_id(person: Person) -> UUID | None:
    return person.member.id if person.member else None


def _user_agent() -> str | None:
    return request.headers.get("User-Agent", "").replace("\x00", "")[:_LONGEST_USER_AGENT] or None
