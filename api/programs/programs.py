"""Programs (campaigns).

Source: core spec, "Campaigns (programs)" and "Program fields accepted on create or update".
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response
from marshmallow import ValidationError

from adapters import clock
from api.access import guards
from api.access.guards import KIB, Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from domain.organization import plans
from domain.organization.access import Role
from models import db
from models.programs import programs
from models.programs.programs import Program
from pipelines.host_proofs import host_rules
from pipelines.programs import lifecycle, rewards, update
from schemas.programs.program import (
    ProgramBody,
    ProgramChanges,
    ProgramRecord,
    ProgramsQuery,
    ProgramWarning,
)

blueprint = Blueprint("programs", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
# The texts of a landing page are longer than all other fields of a program.
_WRITE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter, max_body_bytes=768 * KIB)
_ARCHIVE = Guard(audience="brand", scope="read_write", role=Role.Owner, plan=plans.Tier.Starter)

_RECORD = ProgramRecord()
_WARNING = ProgramWarning()
_TERM_REFUSALS = (
    "400 invalid_commission_type",
    "400 percentage_out_of_range",
    "400 fixed_commission_out_of_range",
    "400 unit_fee_out_of_range",
    "400 sale_commission_incomplete",
    "400 lead_bounty_out_of_range",
    "400 click_reward_out_of_range",
    "400 budget_out_of_range",
    "400 delay_without_renewals",
    "400 invalid_hosted_checkout_door_mode",
    "400 invalid_hosted_checkout_thank_you_url",
    "400 hero_image_not_found",
)


@blueprint.post("/api/v1/programs")
@operation(
    _WRITE, object_of(_RECORD), status=201, takes=ProgramBody(), refuses=(*_TERM_REFUSALS, "409 slug_already_taken")
)
def create_program() -> Response:
    """Create a program. 201 with it."""
    values = body.load()
    return idempotency.run_once(lambda: _create(values))


def _create(values: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    created = lifecycle.create(organization_id=guards.organization_id(), body=values, now=now)
    record = _RECORD.dump(created)
    audit.record("program.created", created.id, after=record, now=now)
    return 201, record | _warnings(created, values)


@blueprint.get("/api/v1/programs")
@operation(_READ, page(_RECORD), asks=ProgramsQuery(), may_lag="answer")
def list_programs() -> Mapping[str, object]:
    """List programs, newest first."""
    query = body.query()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(guards.organization_id()):
        rows = programs.page(
            organization_id=guards.organization_id(),
            **page_request.window,
            includes_archived=query["include_archived"],
        )
    return paging.serialize_page(page_request, rows, _serialize)


@blueprint.get("/api/v1/programs/<program_id>")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_program(program_id: str) -> Mapping[str, object]:
    """Show one program, archived or not."""
    wanted_id = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):
        program = lifecycle.find(organization_id=guards.organization_id(), program_id=wanted_id)
    return _RECORD.dump(program)


@blueprint.patch("/api/v1/programs/<program_id>")
@operation(
    _WRITE,
    object_of(_RECORD),
    takes=ProgramChanges(),
    refuses=(
        *_TERM_REFUSALS,
        "400 invalid_commission_model",
        "404 not_found",
        "409 slug_already_taken",
        "409 invalid_status_transition",
    ),
)
def change_program(program_id: str) -> Response:
    """Change the fields of a program that are sent. 200 with it."""
    wanted_id = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):  # a missing program is reported before an invalid body
        lifecycle.find(organization_id=guards.organization_id(), program_id=wanted_id)
    changes = body.load()
    if changes.get("custom_domain"):
        _check_domain(changes["custom_domain"])
    return idempotency.run_once(lambda: _change(wanted_id, changes))


def _change(program_id: UUID, changes: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    before = update.lock(organization_id=guards.organization_id(), program_id=program_id, fields=changes)
    after = update.change(program=before, fields=changes, now=now)
    record: dict[str, object] = _RECORD.dump(after)
    if after != before:
        audit.record("program.updated", program_id, before=_RECORD.dump(before), after=record, now=now)
    return 200, record | _warnings(after, changes)


def _warnings(program: Program, changes: Mapping[str, Any]) -> dict[str, object]:
    warnings = rewards.list_warnings(program, changes)
    return {"warnings": _WARNING.dump(warnings, many=True)} if warnings else {}


def _check_domain(host: str) -> None:
    error = host_rules.find_problem(host)
    if error:
        raise ValidationError({"customDomain": [error]})


@blueprint.delete("/api/v1/programs/<program_id>")
@operation(_ARCHIVE, status=204, refuses=("404 not_found",))
def archive_program(program_id: str) -> Response:
    """Archive a program: it stays readable and earns nothing from now on. 204, also if it is already archived."""
    wanted_id, now = path.uuid(program_id, "program"), clock.now()
    with db.unit_of_work(guards.organization_id()):
        before = lifecycle.lock(organization_id=guards.organization_id(), program_id=wanted_id)
        after = lifecycle.archive(program=before, now=now)
        if after != before:
            old, new = _serialize([before, after])
            audit.record("program.archived", wanted_id, before=old, after=new, now=now)
    return Response(status=204)


def _serialize(rows: Sequence[programs.Program]) -> list[Any]:
    return [_RECORD.dump(row) for row in rows]
