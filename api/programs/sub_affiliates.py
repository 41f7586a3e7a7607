"""The commission for recruiting affiliates in a program.

Source: tracking spec, "Sub-affiliate recruiting".
"""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, path
from api.edge.operations import object_of, operation
from domain.organization.access import Role
from domain.refusals import Refused
from models import db
from models.programs import programs
from pipelines.programs import lifecycle
from schemas.affiliates import sub_affiliate

blueprint = Blueprint("sub_affiliate_config", __name__)

# Recruiting is on every plan.
_READ_CONFIG = Guard(audience="brand")
_WRITE_CONFIG = Guard(audience="brand", scope="read_write", role=Role.Owner, hides_role=True, verified_email=True)

_CONFIG = sub_affiliate.SubAffiliateConfig()


@blueprint.get("/api/v1/programs/<program_id>/sub-affiliate-config")
@operation(_READ_CONFIG, object_of(_CONFIG), refuses=("404",))
def get_sub_affiliate_config(program_id: str) -> Mapping[str, object]:
    """Show whether a program pays for recruiting, and at which percent."""
    with db.unit_of_work(guards.organization_id()):
        program = programs.find(organization_id=guards.organization_id(), program_id=_program_id(program_id))
    return _serialize_config(program)


@blueprint.put("/api/v1/programs/<program_id>/sub-affiliate-config")
@operation(
    _WRITE_CONFIG, object_of(_CONFIG), takes=_CONFIG, refuses=("400 body_required", "400 unsupported_value", "404")
)
def put_sub_affiliate_config(program_id: str) -> Response:
    """Set whether a program pays for recruiting, and at which percent. 200 with both."""
    wanted_id = _program_id(program_id)
    return idempotency.run_once(lambda: _set_config(wanted_id))


def _set_config(program_id: UUID) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    before = programs.lock(organization_id=guards.organization_id(), program_id=program_id)
    if before is None:
        raise Refused(404)
    changes = sub_affiliate.load(body.json_object())
    after = _serialize_config(lifecycle.set_sub_affiliate_config(program=before, changes=changes, now=now))
    audit.record(
        "program.sub_affiliate_config_changed", program_id, before=_serialize_config(before), after=after, now=now
    )
    return 200, after


def _program_id(program_id: str) -> UUID:
    try:
        return path.uuid(program_id, "program")
    except Refused as refused:
        raise Refused(404) from refused


def _serialize_config(program: programs.Program | None) -> Mapping[str, object]:
    if program is None:
        raise Refused(404)
    return _CONFIG.dump(program)
