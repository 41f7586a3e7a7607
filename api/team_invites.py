"""Accepting an invitation to a team at the pages, by its link."""

from dataclasses import dataclass

from flask import g, request

from adapters import clock
from api import sessions as page_sessions
from api.access import callers, persons
from api.access.persons import Person
from api.sessions import NewSession
from models import db
from models.organization import audit, member_invites
from models.organization.member_invites import ListedInvite
from models.organization.web_sessions import SignInLink
from pipelines.organization import sessions
from pipelines.organization.team import changes, invitations

# The browser is redirected at once; a person with a second factor types its code meanwhile.
_LINK_TTL_S = 15 * 60


@dataclass(frozen=True, slots=True)
class TeamInvitation:
    """A valid invitation as its link shows it."""

    organization_name: str
    email: str
    role: str
    invited_by_email: str


def find(token: str) -> TeamInvitation | None:
    """Return the invitation of a link; None if it was accepted or revoked, or has expired. Budget: 1 round trip."""
    if not changes.is_managed_here():
        return None
    with db.any_org_work():
        invite = member_invites.any_org_find_by_token(sessions.secret_hash(token), now=clock.now())
    if invite is None:
        return None
    return TeamInvitation(invite.organization_name, invite.email, invite.role, invite.invited_by_email)


def accept(token: str, *, request_cookie: str) -> str | None:
    """Make the invited person a member; return the token of a link that signs this browser in, once.

    None if the invitation is not valid any more.
    """
    now = clock.now()
    with db.any_org_work():
        invite = member_invites.any_org_find_by_token(sessions.secret_hash(token), now=now)
        if invite is None or invitations.any_org_accept(invite, now=now) is None:
            return None
        _record(invite, "invitation")
        asked_by = sessions.secret_hash(request_cookie)
        link = SignInLink("member", invite.organization_id, invite.role, invite.email, asked_by, via="invite")
        link_token, _ = sessions.any_org_issue_link(link, now=now, ttl_s=_LINK_TTL_S)
    return link_token


def accept_in_session(token: str, cookie: str, person: Person) -> NewSession | None:
    """Make a signed-in member of another organization a member of this one too, and continue there.

    None if the invitation is not valid any more, or not for this person.
    """
    now = clock.now()
    with db.any_org_work():
        invite = member_invites.any_org_find_by_token(sessions.secret_hash(token), now=now)
        if invite is None or not _is_invited(person, invite.email):
            return None
        if invitations.any_org_accept(invite, now=now) is None:
            return None
        _record(invite, "session")
        started = sessions.any_org_switch(cookie, organization_id=invite.organization_id, now=now)
        session = page_sessions.stage_audit(started, by="invitation") if started is not None else None
    persons.forget(cookie)
    callers.clear_cache()
    return session


def _is_invited(person: Person, email: str) -> bool:
    """Return whether a member is the invited person: the provider's subject is no email, even if it looks like one."""
    return person.member is not None and person.member.is_email_verified and person.email == email


def _record(invite: ListedInvite, by: str) -> None:
    audit.stage(
        organization_id=invite.organization_id,
        action="team.joined",
        entity_id=str(invite.id),
        actor_type="member",
        actor_label=invite.email,
        ip=request.remote_addr,
        user_agent=page_sessions.user_agent(),
        request_id=g.request_id,
        after={"email": invite.email, "role": invite.role, "by": by},
        at=clock.now(),
    )
