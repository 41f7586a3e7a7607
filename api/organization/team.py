"""The team of an organization: members, their roles, and invitations by email.

An invitation is an entry of the list until its person has accepted it. Where an identity provider manages the roles,
the list can only be read.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import callers, guards
from api.access.guards import FRESH_S, Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from domain.organization.access import Role
from models import db
from models.organization import api_keys, memberships
from models.organization.memberships import TeamEntry
from pipelines.organization.team import changes, invitations
from schemas.organization.team import TeamEntryRecord, TeamInviteBody, TeamQuery, TeamRemovalQuery, TeamRoleBody

blueprint = Blueprint("team", __name__)

_READ = Guard(audience="dashboard")
# A person who joins the team may outlive a stolen session, as an API key would.
_ADMIT = Guard(
    audience="dashboard",
    scope="read_write",
    role=Role.Admin,
    verified_email=True,
    needs_login=True,
    fresh_s=FRESH_S,
    bucket="invite",
)
_PROMOTE = replace(_ADMIT, bucket="standard")
_REMOVE = Guard(audience="dashboard", scope="read_write", role=Role.Admin, needs_login=True)
_RESEND = Guard(
    audience="dashboard", scope="read_write", role=Role.Admin, verified_email=True, needs_login=True, bucket="invite"
)

_RECORD = TeamEntryRecord()
_MANAGED = "409 managed_by_identity_provider"


@blueprint.get("/api/v1/team")
@operation(_READ, page(_RECORD), asks=TeamQuery())
def list_team() -> Mapping[str, object]:
    """List the members and the pending invitations, oldest first. Budget: 1 round trip."""
    page_request = paging.read_page_request(body.query())
    organization_id = guards.organization_id()
    with db.unit_of_work(organization_id):
        rows = memberships.list_team(organization_id=organization_id, now=clock.now(), **page_request.window)
    return paging.serialize_page(page_request, rows, lambda shown: _RECORD.dump(shown, many=True))


@blueprint.post("/api/v1/team")
@operation(
    _ADMIT,
    object_of(_RECORD),
    status=201,
    takes=TeamInviteBody(),
    refuses=("409 already_invited", "409 already_member", "409 pending_invites_limit_reached", _MANAGED),
)
def create_team_invite() -> Response:
    """Invite a person to the team by email, with a role that is not above the caller's own. 201 with the invitation.

    The link in the email is valid for seven days, and only for this address.
    """
    values = body.load()
    return idempotency.run_once(lambda: _invite(values), wakes_relay=True)


def _invite(values: Mapping[str, Any]) -> idempotency.Answer:
    changes.check_managed_here()
    caller, now = guards.caller(), clock.now()
    invite = invitations.create(
        organization_id=caller.organization_id,
        actor_id=caller.member_id,
        email=values["email"],
        role=Role(values["role"]),
        now=now,
    )
    record = _RECORD.dump(_find(invite.id))
    audit.record("team.invited", invite.id, after=record, now=now)
    return 201, record


@blueprint.post("/api/v1/team/<entry_id>/resend")
@operation(_RESEND, object_of(_RECORD), refuses=("404 not_found", _MANAGED))
def resend_team_invite(entry_id: str) -> Response:
    """Send an invitation again. 200 with it; its new link is valid for seven days, and the former one no longer."""
    return idempotency.run_once(lambda: _resend(entry_id), wakes_relay=True)


def _resend(entry_id: str) -> idempotency.Answer:
    changes.check_managed_here()
    caller, now = guards.caller(), clock.now()
    invite = invitations.resend(
        organization_id=caller.organization_id,
        actor_id=caller.member_id,
        invite_id=path.uuid(entry_id, "invitation"),
        now=now,
    )
    record = _RECORD.dump(_find(invite.id))
    audit.record("team.invite_resent", invite.id, after=record, now=now)
    return 200, record


@blueprint.patch("/api/v1/team/<entry_id>")
@operation(_PROMOTE, object_of(_RECORD), takes=TeamRoleBody(), refuses=("404 not_found", "409 last_owner", _MANAGED))
def change_member_role(entry_id: str) -> Response:
    """Change the role of a member, also in their open sessions. 200 with the member.

    Neither the old nor the new role may be above the caller's own, and the last Owner stays Owner.
    """
    values = body.load()
    answer = idempotency.run_once(lambda: _change_role(entry_id, Role(values["role"])))
    callers.clear_cache()
    return answer


def _change_role(entry_id: str, role: Role) -> idempotency.Answer:
    changes.check_managed_here()
    caller, now, member_id = guards.caller(), clock.now(), path.uuid(entry_id, "member")
    before = changes.change_role(
        organization_id=caller.organization_id, actor_id=caller.member_id, member_id=member_id, role=role, now=now
    )
    if before.role != role:
        audit.record("team.role_changed", member_id, before={"role": before.role}, after={"role": role}, now=now)
    return 200, _RECORD.dump(_find(member_id))


@blueprint.delete("/api/v1/team/<entry_id>")
@operation(_REMOVE, status=204, asks=TeamRemovalQuery(), refuses=("404 not_found", "409 last_owner", _MANAGED))
def delete_team_entry(entry_id: str) -> Response:
    """Remove a member, or revoke an invitation. 204.

    The member's sessions and links end within seconds. The API keys that they created belong to the organization and
    stay in force, unless `revokeApiKeys` is true. The last Owner cannot be removed.
    """
    query, entry_uuid = body.query(), path.uuid(entry_id, "member")
    answer = idempotency.run_once(lambda: _remove(entry_uuid, revokes_keys=query["revoke_api_keys"]))
    callers.clear_cache()
    return answer


def _remove(entry_id: UUID, *, revokes_keys: bool) -> idempotency.Answer:
    changes.check_managed_here()
    caller, now = guards.caller(), clock.now()
    entry = _find(entry_id)
    if entry is not None and entry.status != "Active":
        invitations.revoke(organization_id=caller.organization_id, actor_id=caller.member_id, invite_id=entry_id)
        audit.record("team.invite_revoked", entry_id, before=_RECORD.dump(entry), now=now)
        return 204, None
    rows = changes.remove(
        organization_id=caller.organization_id, actor_id=caller.member_id, member_id=entry_id, now=now
    )
    key_ids = [
        key_id
        for row in (rows if revokes_keys else ())
        for key_id in api_keys.revoke_of_member(organization_id=row.organization_id, member_id=row.id, at=now)
    ]
    before = {"email": rows[0].email, "role": rows[0].role}
    after = {"revokedApiKeys": [str(key_id) for key_id in key_ids]}
    audit.record("team.removed", entry_id, before=before, after=after, now=now)
    return 204, None


def _find(entry_id: UUID) -> TeamEntry | None:
    return memberships.find_entry(organization_id=guards.organization_id(), entry_id=entry_id, now=clock.now())
