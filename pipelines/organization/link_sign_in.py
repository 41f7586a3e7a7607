"""Signing in by a one-time link: where it leads, the second factor, and the session that it starts.

A link of an email is used up when the session starts, so until then its person may choose a destination and try a code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.organization import web_sessions
from models.organization.web_sessions import SignInLink, WebSession
from pipelines.organization import destinations, second_factor, sessions
from pipelines.organization.destinations import SignInDestination
from pipelines.organization.second_factor import CodeResult
from pipelines.organization.sessions import StartedSession
from pipelines.organization.team import invitations


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """A browser that opens a link: its cookies, what its person chose and typed, and the page that they want to see.

    `is_sure` means that the person pressed the button.
    """

    cookie: str | None
    browser_secret: str | None
    user_agent: str
    next_page: str | None = None
    is_sure: bool = False
    destination: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class OpenLink:
    """A valid link that has not started its session yet: its person has to choose, to type a code, or to confirm.

    `result` is how the typed code was refused.
    """

    email: str
    destinations: Sequence[SignInDestination]
    chosen: SignInDestination | None
    needs_code: bool
    result: CodeResult | None = None


def any_org_open(token: str, opening: LinkRequest, *, now: datetime) -> StartedSession | OpenLink | None:
    """Start the session of a link and use the link up; or return what is missing; None for an invalid link.

    An emailed link starts the session at once in the browser that requested it, if there is nothing to choose, and no
    second factor. The session of the browser's former cookie ends, and so does every session of the same person in the
    same organization with another role. The caller commits in each case: wrong codes are counted.
    """
    token_hash = sessions.secret_hash(token)
    link = web_sessions.any_org_lock_link(token_hash, now=now)
    listed = _list_destinations(link, now=now) if link is not None else []
    if link is None or not listed:
        return None
    chosen = destinations.choose(
        listed,
        key=opening.destination,
        next_page=opening.next_page,
        current_organization_id=_current_organization(opening, link.email, now),
    )
    needs_code = link.via != "shell" and second_factor.is_enabled(link.email)
    is_own_browser = link.asked_by is None or (
        opening.browser_secret is not None and sessions.secret_hash(opening.browser_secret) == link.asked_by
    )
    is_ready = chosen is not None and (is_own_browser or opening.is_sure)
    if chosen is None or not is_ready or (needs_code and opening.code is None):
        return OpenLink(link.email, listed, chosen, needs_code)
    if needs_code:
        result = second_factor.use_code(link.email, opening.code or "", now=now)
        if result != "right":
            return OpenLink(link.email, listed, chosen, needs_code, result)
    web_sessions.any_org_stage_use(token_hash)
    return _start(link, chosen, opening, signed_in_by="code" if needs_code else link.via, now=now)


def _list_destinations(link: SignInLink, *, now: datetime) -> list[SignInDestination]:
    if link.has_open_destination:
        return destinations.any_org_list(link.email, subject=sessions.local_subject(link.email), now=now)
    if link.kind == "member":
        return [SignInDestination(str(link.organization_id), "member", link.organization_id, "", link.role)]
    return [SignInDestination(link.kind, "account")]


def _current_organization(opening: LinkRequest, email: str, now: datetime) -> UUID | None:
    """Return the organization in which the browser is signed in already as the same person."""
    session = sessions.any_org_find(opening.cookie, now=now) if opening.cookie else None
    return session.organization_id if session is not None and session.email == email else None


def _start(
    link: SignInLink, chosen: SignInDestination, opening: LinkRequest, *, signed_in_by: str, now: datetime
) -> StartedSession | None:
    """Start the session of a used link; None if its person has lost the access."""
    if chosen.invite is not None:
        invitations.any_org_accept(chosen.invite, now=now)
    new_cookie, subject = sessions.create_cookie(), sessions.local_subject(link.email)
    member_id, role = None, chosen.role
    if chosen.organization_id is not None and link.via != "shell":
        member = sessions.any_org_enter(chosen.organization_id, link.email, subject)
        if member is None:
            return None
        member_id, role = member
        web_sessions.any_org_stage_end_other_roles(subject=subject, organization_id=chosen.organization_id, role=role)
    kind = chosen.kind if link.has_open_destination else link.kind
    session = WebSession(
        id_hash=sessions.secret_hash(new_cookie),
        kind=kind,
        organization_id=chosen.organization_id,
        role=role,
        subject=subject,
        email=link.email,
        is_email_verified=True,
        signed_in_at=now,
        seen_at=now,
        expires_at=now + sessions.LIFETIMES[kind],
        user_agent=sessions.trim_user_agent(opening.user_agent),
        signed_in_by=signed_in_by,
    )
    if chosen.organization_id is not None and link.via == "shell":
        member_id = sessions.any_org_sign_member_in(session, now=now)
    return sessions.any_org_start(session, new_cookie=new_cookie, member_id=member_id, cookie=opening.cookie, now=now)
