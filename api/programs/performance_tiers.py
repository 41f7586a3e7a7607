"""Performance tiers of a program, read and set as a whole.

Source: tracking spec, "Server-to-server sale body" (a tier's rate ranks between a group's and the program's).
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, operation
from domain.organization import plans
from models import db
from models.programs import performance_tiers
from pipelines.programs import lifecycle, tiers
from schemas.programs.performance_tier import PerformanceTierRecord, PerformanceTiers

blueprint = Blueprint("performance_tiers", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_WRITE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter)

_RECORD = PerformanceTierRecord()
_TIERS = "/api/v1/programs/<program_id>/performance-tiers"


@blueprint.get(_TIERS)
@operation(_READ, array(_RECORD), refuses=("404 not_found",))
def list_performance_tiers(program_id: str) -> list[Any]:
    """List a program's tiers, lowest first."""
    program_uuid = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):
        lifecycle.find(organization_id=guards.organization_id(), program_id=program_uuid)
        return _list_tiers(program_uuid)


@blueprint.put(_TIERS)
@operation(
    _WRITE,
    array(_RECORD),
    takes=PerformanceTiers(),
    refuses=(
        "400 invalid_commission_type",
        "400 percentage_out_of_range",
        "400 fixed_commission_out_of_range",
        "400 unit_fee_out_of_range",
        "404 not_found",
        "409 invalid_status_transition",
    ),
)
def put_performance_tiers(program_id: str) -> Response:
    """Set a program's tiers as a whole, ascending; a bare array is accepted too. 200 with them."""
    program_uuid = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):  # a missing program is reported before an invalid body
        lifecycle.find(organization_id=guards.organization_id(), program_id=program_uuid)
    requested = body.load_list("tiers")
    return idempotency.run_once(lambda: _set(program_uuid, requested))


def _set(program_id: UUID, requested: Sequence[Mapping[str, Any]]) -> tuple[int, Sequence[object]]:
    now = clock.now()
    program = lifecycle.lock_unarchived(organization_id=guards.organization_id(), program_id=program_id)
    before = _list_tiers(program_id)
    after = [_RECORD.dump(tier) for tier in tiers.replace_all(program=program, bodies=requested)]
    if after != before:
        action = "program.performance_tiers_changed"
        audit.record(action, program_id, before={"tiers": before}, after={"tiers": after}, now=now)
    return 200, after


def _list_tiers(program_id: UUID) -> list[Any]:
    tiers = performance_tiers.list_of_program(organization_id=guards.organization_id(), program_id=program_id)
    return [_RECORD.dump(tier) for tier in tiers]
