"""Programs of every organization: an operator suspends one that must not earn, and resumes it."""

from collections.abc import Callable, Mapping
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from api.operator.guarding import READ, WRITE
from domain.refusals import not_found
from models import db
from models.programs import admin_queries
from models.programs.programs import Program
from pipelines.programs import supervision
from schemas.operator.programs import SupervisedProgramRecord, SupervisedProgramsQuery
from schemas.operator.queues import WhyBody

blueprint = Blueprint("operator_programs", __name__)

_RECORD = SupervisedProgramRecord()


@blueprint.get("/api/operator/programs")
@operation(READ, page(_RECORD), asks=SupervisedProgramsQuery())
def list_supervised_programs() -> Mapping[str, object]:
    """List programs, newest first, archived ones too. Budget: 1 round trip."""
    query = body.query()
    asked = paging.read_page_request(query)
    filters = {name: query[name] for name in ("q", "organization_id", "status")}
    with db.any_org_work():
        rows = admin_queries.any_org_page(**filters, after=asked.after, limit=asked.limit)
    return paging.serialize_page(asked, rows, lambda some: _RECORD.dump(some, many=True))


@blueprint.get("/api/operator/programs/<program_id>")
@operation(READ, object_of(_RECORD), refuses=("404 not_found",))
def get_supervised_program(program_id: str) -> Mapping[str, object]:
    """Show one program with whose it is. Budget: 1 round trip."""
    wanted_id = path.uuid(program_id, "program")
    with db.any_org_work():
        return _shown(wanted_id)


@blueprint.post("/api/operator/programs/<program_id>/suspend")
@operation(WRITE, object_of(_RECORD), takes=WhyBody(), refuses=("404 not_found",))
def suspend_program(program_id: str) -> Response:
    """Refuse what a program would earn until it is resumed; what it has earned stays.

    200 with the program, also when it is suspended already. The brand's audit log keeps why.
    """
    return _supervised(program_id, "program.suspended", supervision.suspend)


@blueprint.post("/api/operator/programs/<program_id>/resume")
@operation(WRITE, object_of(_RECORD), takes=WhyBody(), refuses=("404 not_found",))
def resume_program(program_id: str) -> Response:
    """Let a suspended program earn again. 200 with it, also when it was not. The brand's audit log keeps why."""
    return _supervised(program_id, "program.resumed", supervision.resume)


def _supervised(program_id: str, action: str, act: Callable[..., Program]) -> Response:
    wanted_id, why = path.uuid(program_id, "program"), body.load()["why"]

    def done() -> idempotency.Answer:
        now = clock.now()
        before = supervision.any_org_lock(wanted_id)
        after = act(program=before, now=now)
        if after != before:
            suspended_at = after.suspended_at.isoformat() if after.suspended_at else None
            said = {"suspendedAt": suspended_at, "why": why}
            audit.record(action, wanted_id, after=said, organization_id=after.organization_id, now=now)
        return 200, _shown(wanted_id)

    return idempotency.run_once_for_operator(done)


def _shown(program_id: UUID) -> Mapping[str, object]:
    found = admin_queries.any_org_find(program_id)
    if found is None:
        raise not_found("program", program_id)
    shown: Mapping[str, object] = _RECORD.dump(found)
    return shown
