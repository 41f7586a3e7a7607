"""The people of an organization, and where they are signed in at the pages. Roles are given where one signs in."""

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
_MOST_SHOWN = 500
_MOST_SESSIONS = 1_000


@blueprint.get("/api/v1/members")
@operation(_READ, array(_RECORD))
def list_members() -> Response:
    """List who may act for the organization, with their sessions at the pages. Budget: 4 round trips."""
    organization_id, now = guards.organization_id(), clock.now()
    with db.unit_of_work(organization_id):
        people = members.list_members(organization_id=organization_id, limit=_MOST_SHOWN)
        found = web_sessions.list_of_members(
            organization_id=organization_id, now=now, seen_since=now - sessions.MAX_IDLE, limit=_MOST_SESSIONS
        )
    of_subject: dict[str | None, list[MemberSession]] = defaultdict(list)
    for session in found:
        of_subject[session.subject].append(session)
    return jsonify(
        [
            _RECORD.dump(
                {
                    "id": one.id,
                    "email": one.email,
                    "role": one.role,
                    "has_signed_in": one.subject is not None,
                    "created_at": one.created_at,
                    "seen_at": one.seen_at,
                    "sessions": of_subject[one.subject],
                }
            )
            for one in people
        ]
    )


@blueprint.delete("/api/v1/members/<member_id>/sessions")
@operation(_END, object_of(_ENDED), refuses=("404 not_found",))
def revoke_member_sessions(member_id: str) -> Response:
    """Sign somebody out wherever they are signed in to this organization. 200 with how many sessions that ended.

    Takes effect within seconds. Who may still sign in can do so again.
    """
    answer = idempotency.run_once(lambda: _end(member_id))
    callers.clear_cache()
    return answer


def _end(member_id: str) -> tuple[int, Mapping[str, object]]:
    wanted_id, organization_id = path.uuid(member_id, "member"), guards.organization_id()
    found = members.find_by_id(organization_id=organization_id, member_id=wanted_id)
    if found is None:
        raise not_found("member", wanted_id)
    ended = (
        web_sessions.end_of_member(organization_id=organization_id, subject=found.subject)
        if found.subject is not None
        else 0
    )
    audit.record("member.signed_out", wanted_id, after={"sessions": ended}, now=clock.now())
    return 200, _ENDED.dump({"ended": ended})
