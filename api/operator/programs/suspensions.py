"""Programs of every organization: an operator suspends one that must not earn, and resumes it."""

from collections.abc import Callable, Mapping
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from api.operator.operator_guards import READ, WRITE
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
    """List programs, newest first, including archived ones. Budget: 1 round trip."""
    query = body.query()
    page_request = paging.read_page_request(query)
    filters = {name: query[name] for name in ("q", "organization_id", "status")}
    with db.any_org_work():
        rows = admin_queries.any_org_page(**filters, **page_request.window)
    return paging.serialize_page(page_request, rows, lambda rows: _RECORD.dump(rows, many=True))


@blueprint.get("/api/operator/programs/<program_id>")
@operation(READ, object_of(_RECORD), refuses=("404 not_found",))
def get_supervised_program(program_id: str) -> Mapping[str, object]:
    """Show one program with its organization. Budget: 1 round trip."""
    wanted_id = path.uuid(program_id, "program")
    with db.any_org_work():
        return _serialize(wanted_id)


@blueprint.post("/api/operator/programs/<program_id>/suspend")
@operation(WRITE, object_of(_RECORD), takes=WhyBody(), refuses=("404 not_found",))
def suspend_program(program_id: str) -> Response:
    """Suspend a program: it earns nothing until it is resumed; earlier earnings stay.

    200 with the program, also if it is already suspended. The brand's audit log keeps the reason.
    """
    return _change_status(program_id, "program.suspended", supervision.suspend)


@blueprint.post("/api/operator/programs/<program_id>/resume")
@operation(WRITE, object_of(_RECORD), takes=WhyBody(), refuses=("404 not_found",))
def resume_program(program_id: str) -> Response:
    """Resume a suspended program. 200 with it, also if it was not suspended. The brand's audit log keeps the reason."""
    return _change_status(program_id, "program.resumed", supervision.resume)


def _change_status(program_id: str, action: str, act: Callable[..., Program]) -> Response:
    wanted_id, why = path.uuid(program_id, "program"), body.load()["why"]

    def change() -> idempotency.Answer:
        now = clock.now()
        before = supervision.any_org_lock(wanted_id)
        after = act(program=before, now=now)
        if after != before:
            suspended_at = after.suspended_at.isoformat() if after.suspended_at else None
            details = {"suspendedAt": suspended_at, "why": why}
            audit.record(action, wanted_id, after=details, organization_id=after.organization_id, now=now)
        return 200, _serialize(wanted_id)

    return idempotency.run_once_for_operator(change)


def _serialize(program_id: UUID) -> Mapping[str, object]:
    row = admin_queries.any_org_find(program_id)
    if row is None:
        raise not_found("program", program_id)
    return _RECORD.dump(row)
