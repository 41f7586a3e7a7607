"""The team of an organization: roles and removal, where this service and no identity provider manages them.

Each change locks the caller's and the other member's rows, in the order of their ids, so that a person who loses their
role at the same time cannot change anything with it. It applies to all rows of the other person.
"""

from datetime import datetime
from uuid import UUID

import settings
from adapters.identity import tokens
from domain.organization import access
from domain.organization.access import Role
from domain.refusals import Refused, not_found
from models.organization import member_invites, memberships, organizations
from models.organization.members import Member
from pipelines.organization import sessions

_ARTICLES = {Role.Owner: "an", Role.Admin: "an", Role.Manager: "a", Role.Viewer: "a"}
_LAST_OWNER = "An organization needs at least one Owner. Make another member Owner first."


def is_managed_here() -> bool:
    """Return whether roles are those of the team list, not those that an identity provider's tokens carry."""
    return takes_roles_from_members() or settings.current().identity.dashboard_issuer is None


def takes_roles_from_members() -> bool:
    """Return whether people sign in at an identity provider, and their roles are those of the team list."""
    identity = settings.current().identity
    return identity.dashboard_issuer is not None and identity.dashboard_roles == "members"


def signs_in_by_email() -> bool:
    """Return whether members sign in with our links, not at an identity provider."""
    try:
        tokens.check_local("dashboard")
    except tokens.NotLocal:
        return False
    return True


def check_managed_here() -> None:
    """Raise Refused 409 managed_by_identity_provider if an identity provider manages the roles."""
    if not is_managed_here():
        issuer = settings.current().identity.dashboard_issuer
        message = f"Members and roles are managed at your identity provider, {issuer}. Change them there."
        raise Refused(409, "managed_by_identity_provider", message)


def change_role(*, organization_id: UUID, actor_id: UUID, member_id: UUID, role: Role, now: datetime) -> Member:
    """Change the role of a person, and return the member as they were.

    Raises Refused: 403 forbidden for a role above the caller's; 404 not_found; 409 last_owner.
    """
    actor, rows = _lock(organization_id, actor_id, member_id)
    for row in rows:
        check_not_above(actor.role, row.role, "change the role of")
    check_not_above(actor.role, role, "make someone")
    if role != Role.Owner:
        _check_not_last_owner(rows)
    for row in rows:
        if row.role != role:
            memberships.change_role(row, role=role, at=now)
            _stage_revocations(row, keeps=role)
    return rows[0]


def remove(*, organization_id: UUID, actor_id: UUID, member_id: UUID, now: datetime) -> list[Member]:
    """Remove a person; their sessions and sign-in links end with the transaction.

    Return their rows as they were, that of the member first.

    Their API keys stay in force: they belong to the organization's servers. People may remove themselves.
    Raises Refused: 403 forbidden for a member above the caller; 404 not_found; 409 last_owner.
    """
    actor, rows = _lock(organization_id, actor_id, member_id)
    for row in rows:
        check_not_above(actor.role, row.role, "remove")
    _check_not_last_owner(rows)
    for row in rows:
        memberships.remove(row, local_subject=sessions.local_subject(row.email), at=now)
        _stage_revocations(row, keeps=None)
    member_invites.stage_delete_by_email(organization_id=organization_id, email=rows[0].email)
    return rows


def lock_actor(organization_id: UUID, actor_id: UUID) -> Member:
    """Return the member who acts, locked. Raises Refused 403 forbidden if they were removed meanwhile."""
    actor = memberships.lock(organization_id=organization_id, member_ids=[actor_id]).get(actor_id)
    if actor is None:
        raise _removed_refusal()
    return actor


def check_not_above(own: str, other: str, act: str) -> None:
    """Raise Refused 403 forbidden if a role is above the caller's own; `act` is what they wanted to do."""
    if not access.at_least(own, other):
        raise Refused(403, "forbidden", f"Your role is {own}. To {act} {_ARTICLES[Role(other)]} {other}, ask an Owner.")


def _lock(organization_id: UUID, actor_id: UUID, member_id: UUID) -> tuple[Member, list[Member]]:
    """Return the actor and all rows of a person, that of the member first, locked."""
    # The organization first: two Owners who act on each other wait for each other here, and never deadlock.
    organizations.lock(organization_id)
    locked = memberships.lock_person(organization_id=organization_id, member_id=member_id, actor_id=actor_id)
    if actor_id not in locked:
        raise _removed_refusal()
    if member_id not in locked:
        raise not_found("member", member_id)
    member = locked[member_id]
    others = [row for row in locked.values() if row.id != member.id and _is_same_person(row, member)]
    return locked[actor_id], [member, *others]


def _is_same_person(one: Member, other: Member) -> bool:
    return one.email != "" and one.email == other.email and one.is_email_verified and other.is_email_verified


def _stage_revocations(member: Member, *, keeps: Role | None) -> None:
    """Stage the end of invitations that a member sent and may no longer send: above the role they keep, or all."""
    ended = [role for role in Role if keeps is None or not access.at_least(keeps, role)]
    member_invites.stage_delete_by_inviter(organization_id=member.organization_id, member_id=member.id, roles=ended)


def _removed_refusal() -> Refused:
    return Refused(403, "forbidden", "You are no longer a member of this organization.")


def _check_not_last_owner(rows: list[Member]) -> None:
    if all(row.role != Role.Owner for row in rows):
        return
    ids = [row.id for row in rows]
    if not memberships.count_other_owners(organization_id=rows[0].organization_id, member_ids=ids):
        raise Refused(409, "last_owner", _LAST_OWNER)
