"""Invitations to the team of an organization, sent by email and valid for seven days.

The invited address is a member once its link was opened and confirmed in a browser, or once its person signs in at an
identity provider. The link opens no membership for another address.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import settings
from domain.organization.access import Role
from domain.refusals import Refused, not_found
from models import ids
from models.organization import member_invites, members, memberships, organizations
from models.organization.member_invites import ListedInvite
from pipelines import mail
from pipelines.organization import sessions
from pipelines.organization.team import changes

#: How long an invitation is valid after it was sent.
LIFETIME = timedelta(days=7)
#: The maximum number of invitations of an organization that were not accepted.
MAX_PENDING = 50

_TOKEN_BYTES = 32
_KIND = "team.invite"


@dataclass(frozen=True, slots=True)
class JoinedMember:
    """An accepted invitation, and the member who accepted it."""

    invite: ListedInvite
    member_id: UUID


def create(*, organization_id: UUID, actor_id: UUID, email: str, role: Role, now: datetime) -> ListedInvite:
    """Invite a person, and email the link.

    Raises Refused: 403 forbidden for a role above the caller's; 409 already_member, already_invited,
    pending_invites_limit_reached.
    """
    organizations.lock(organization_id)
    actor = changes.lock_actor(organization_id, actor_id)
    changes.check_not_above(actor.role, role, "invite")
    member = memberships.lock_by_email(organization_id=organization_id, email=email)
    if member is not None and member.removed_at is None:
        raise Refused(409, "already_member", f"{email} is a member already.", field="email")
    if member_invites.count(organization_id) >= MAX_PENDING:
        message = f"An organization can have {MAX_PENDING} pending invitations. Revoke some first."
        raise Refused(409, "pending_invites_limit_reached", message)
    token, invite_id = secrets.token_urlsafe(_TOKEN_BYTES), ids.new_id()
    values = {
        "id": invite_id,
        "organization_id": organization_id,
        "email": email,
        "role": role.value,
        "token_hash": sessions.secret_hash(token),
        "invited_by": actor_id,
        "created_at": now,
        "expires_at": now + LIFETIME,
    }
    if not member_invites.insert_once(values):
        message = f"{email} is invited already. Resend the invitation, or revoke it first."
        raise Refused(409, "already_invited", message, field="email")
    return _send(organization_id, invite_id, token, now)


def resend(*, organization_id: UUID, actor_id: UUID, invite_id: UUID, now: datetime) -> ListedInvite:
    """Send an invitation again, with a new link for seven days; the former link becomes invalid.

    Raises Refused: 403 forbidden for a role above the caller's; 404 not_found.
    """
    actor = changes.lock_actor(organization_id, actor_id)
    invite = member_invites.lock(organization_id=organization_id, invite_id=invite_id)
    if invite is None:
        raise not_found("invitation", invite_id)
    changes.check_not_above(actor.role, invite.role, "invite")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    member_invites.stage_renewal(invite, token_hash=sessions.secret_hash(token), expires_at=now + LIFETIME)
    return _send(organization_id, invite_id, token, now)


def revoke(*, organization_id: UUID, actor_id: UUID, invite_id: UUID) -> ListedInvite:
    """Delete an invitation; its link becomes invalid. Return it as it was.

    Raises Refused: 403 forbidden for a role above the caller's; 404 not_found.
    """
    actor = changes.lock_actor(organization_id, actor_id)
    invite = member_invites.find(organization_id=organization_id, invite_id=invite_id)
    locked = member_invites.lock(organization_id=organization_id, invite_id=invite_id)
    if invite is None or locked is None:
        raise not_found("invitation", invite_id)
    changes.check_not_above(actor.role, locked.role, "revoke the invitation of")
    member_invites.stage_delete(organization_id=organization_id, invite_id=invite_id)
    return invite


def any_org_accept(invite: ListedInvite, *, now: datetime) -> JoinedMember | None:
    """Make the invited person a member with the role of the invitation, and delete it; None if it is gone already.

    A person whom the team removed before becomes a member again. One who is a member already stays as they are.
    """
    locked = member_invites.lock(organization_id=invite.organization_id, invite_id=invite.id)
    if locked is None or locked.expires_at <= now:
        return None
    member_invites.stage_delete(organization_id=invite.organization_id, invite_id=invite.id)
    member = memberships.lock_by_email(organization_id=invite.organization_id, email=invite.email)
    if member is not None:
        if member.removed_at is not None:
            memberships.restore(member, role=locked.role, at=now)
        return JoinedMember(invite, member.id)
    values: dict[str, Any] = {"organization_id": invite.organization_id, "email": invite.email, "role": locked.role}
    member_id = ids.new_id()
    members.insert({"id": member_id, **values, "created_at": now})
    return JoinedMember(invite, member_id)


def _send(organization_id: UUID, invite_id: UUID, token: str, now: datetime) -> ListedInvite:
    invite = member_invites.find(organization_id=organization_id, invite_id=invite_id)
    assert invite is not None  # it is locked
    name = " ".join(invite.organization_name.split())
    text = (
        f"{invite.invited_by_email} invites you to join {name} as {invite.role}.\n\n"
        f"Accept the invitation:\n{settings.current().web.url}/sign-in/invite/{token}\n\n"
        f"The link works once, within {LIFETIME.days} days. It is for {invite.email} only, so please do not forward it."
        f" If you do not know {name}, ignore this email.\n"
    )
    subject = f"Join {name} on Finderfee"
    mail.send(organization_id=organization_id, to=invite.email, subject=subject, text=text, kind=_KIND, at=now)
    return invite
