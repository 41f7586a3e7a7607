"""Partner groups of a program: affiliates who share a rate.

Source: tracking spec, "Server-to-server sale body" (a group's rate ranks between an affiliate's own and the tiers').
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from domain.organization import plans
from models import db
from models.programs import partner_groups
from pipelines.programs import groups, lifecycle
from schemas.programs.partner_group import PartnerGroupBody, PartnerGroupChanges, PartnerGroupRecord

blueprint = Blueprint("partner_groups", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_WRITE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter)

_RECORD = PartnerGroupRecord()
_GROUPS = "/api/v1/programs/<program_id>/partner-groups"
_GROUP = f"{_GROUPS}/<group_id>"
_REFUSALS = (
    "400 invalid_commission_type",
    "400 percentage_out_of_range",
    "400 fixed_commission_out_of_range",
    "400 unit_fee_out_of_range",
    "404 not_found",
    "409 invalid_status_transition",
    "409 partner_group_name_taken",
)


@blueprint.get(_GROUPS)
@operation(_READ, array(_RECORD), refuses=("404 not_found",))
def list_partner_groups(program_id: str) -> list[Any]:
    """List a program's groups, oldest first."""
    program_key = _program_key(program_id)
    with db.unit_of_work(guards.organization_id()):
        lifecycle.find(**program_key)
        groups = partner_groups.list_of_program(**program_key)
    return [_RECORD.dump(group) for group in groups]


@blueprint.post(_GROUPS)
@operation(
    _WRITE,
    object_of(_RECORD),
    status=201,
    takes=PartnerGroupBody(),
    refuses=(*_REFUSALS, "409 partner_group_limit_reached"),
)
def create_partner_group(program_id: str) -> Response:
    """Create a group. 201 with it."""
    program_key = _program_key(program_id)
    with db.unit_of_work(guards.organization_id()):  # a missing program is reported before an invalid body
        lifecycle.find(**program_key)
    values = body.load()
    return idempotency.run_once(lambda: _create(program_key, values))


def _create(program_key: Mapping[str, UUID], values: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    group = groups.create(**program_key, body=values, now=now)
    record = _RECORD.dump(group)
    audit.record("partner_group.created", group.id, after=record, now=now)
    return 201, record


@blueprint.get(_GROUP)
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_partner_group(program_id: str, group_id: str) -> Mapping[str, object]:
    """Show one group."""
    group_key = _group_key(program_id, group_id)
    with db.unit_of_work(guards.organization_id()):
        record: Mapping[str, object] = _RECORD.dump(groups.find(**group_key))
    return record


@blueprint.patch(_GROUP)
@operation(_WRITE, object_of(_RECORD), takes=PartnerGroupChanges(), refuses=_REFUSALS)
def change_partner_group(program_id: str, group_id: str) -> Response:
    """Change a group's name or rate. 200 with it; earlier sales keep their commission."""
    group_key = _group_key(program_id, group_id)
    with db.unit_of_work(guards.organization_id()):
        groups.find(**group_key)
    changes = body.load()
    return idempotency.run_once(lambda: _change(group_key, changes))


def _change(group_key: Mapping[str, UUID], changes: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    program, group = groups.lock(**group_key)
    before: Mapping[str, object] = _RECORD.dump(group)
    changed = groups.change(program=program, group=group, changes=changes)
    if changed == group:
        return 200, before
    after = _RECORD.dump(changed)
    audit.record("partner_group.updated", group.id, before=before, after=after, now=clock.now())
    return 200, after


@blueprint.delete(_GROUP)
@operation(_WRITE, status=204, refuses=("404 not_found", "409 invalid_status_transition"))
def delete_partner_group(program_id: str, group_id: str) -> Response:
    """Delete a group; its affiliates leave it. 204."""
    group_key = _group_key(program_id, group_id)
    with db.unit_of_work(guards.organization_id()):
        _, group = groups.lock(**group_key)
        groups.remove(group)
        audit.record("partner_group.deleted", group.id, before=_RECORD.dump(group), now=clock.now())
    return Response(status=204)


def _program_key(program_id: str) -> dict[str, UUID]:
    return {"organization_id": guards.organization_id(), "program_id": path.uuid(program_id, "program")}


def _group_key(program_id: str, group_id: str) -> dict[str, UUID]:
    return {**_program_key(program_id), "group_id": path.uuid(group_id, "partner group")}
