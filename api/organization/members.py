"""The members of an organization with their sessions at the pages. Roles come from the identity provider."""

from collections import defaultdict
from collections.abc import Mapping

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.access import callers, guards
from api.access.guards import Guard
from api.edge import audit, idempotency, path
from api.edge.operations import array, object_of, operation
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.organization import members, web_sessions
from models.organization.web_sessions import MemberSession
from pipelines.organization import sessions
from schemas.organization.member import EndedSessions, MemberRecord

blueprint = Blueprint("members", __name__)

_READ = Guard(audience="dashboard", role=Role.Admin)
_END = Guard(audience="dashboard", scope="read_write", role=Role.Owner)

_RECORD = MemberRecord()
_ENDED = EndedSessions()
_MAX_MEMBERS = 500
_MAX_SESSIONS = 1_000


@blueprint.get("/api/v1/members")
@operation(_READ, array(_RECORD))
def list_members() -> Response:
    """List the members of the organization with their sessions at the pages. Budget: 4 round trips."""
    organization_id, now = guards.organization_id(), clock.now()
    with db.unit_of_work(organization_id):
        rows = members.list_members(organization_id=organization_id, limit=_MAX_MEMBERS)
        open_sessions = web_sessions.list_of_members(
            organization_id=organization_id, now=now, seen_since=now - sessions.MAX_IDLE, limit=_MAX_SESSIONS
        )
    by_subject: dict[str | None, list[MemberSession]] = defaultdict(list)
    for session in open_sessions:
        by_subject[session.subject].append(session)
    return jsonify(
        [
            _RECORD.dump(
                {
                    "id": member.id,
                    "email": member.email,
                    "role": member.role,
                    "has_signed_in": member.subject is not None,
                    "created_at": member.created_at,
                    "seen_at": member.seen_at,
                    "sessions": by_subject[member.subject],
                }
            )
            for member in rows
        ]
    )


@blueprint.delete("/api/v1/members/<member_id>/sessions")
@operation(_END, object_of(_ENDED), refuses=("404 not_found",))
def revoke_member_sessions(member_id: str) -> Response:
    """Sign a member out of all their sessions of this organization. 200 with the number of ended sessions.

    It takes effect within seconds. A member with access can sign in again.
    """
    answer = idempotency.run_once(lambda: _end(member_id))
    callers.clear_cache()
    return answer


def _end(member_id: str) -> tuple[int, Mapping[str, object]]:
    member_uuid, organization_id = path.uuid(member_id, "member"), guards.organization_id()
    member = members.find_by_id(organization_id=organization_id, member_id=member_uuid)
    if member is None:
        raise not_found("member", member_uuid)
    ended = (
        web_sessions.end_of_member(organization_id=organization_id, subject=member.subject)
        if member.subject is not None
        else 0
    )
    audit.record("member.signed_out", member_uuid, after={"sessions": ended}, now=clock.now())
    return 200, _ENDED.dump({"ended": ended})
