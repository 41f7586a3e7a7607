"""Programs (campaigns) and their sub-affiliate setting.

Source: core spec, "Campaigns (programs)"; tracking spec, "Sub-affiliate recruiting".
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from api import answers, audit, body, guards, paging, path
from api.guards import Guard, guarded
from domain import plans
from domain.refused import Refused, not_found
from models import db, programs
from pipelines import clock
from pipelines import programs as program_rules
from schemas import sub_affiliate
from schemas.program import ProgramBody, ProgramRecord, ProgramsQuery

blueprint = Blueprint("programs", __name__)

_READ = Guard(audience="key", plan=plans.Tier.Starter)
_WRITE = Guard(audience="key", scope="read_write", plan=plans.Tier.Starter)
# Recruiting is on every plan.
_READ_CONFIG = Guard(audience="key")
_WRITE_CONFIG = Guard(audience="key", scope="read_write")

_BODY = ProgramBody()
_RECORD = ProgramRecord()
_QUERY = ProgramsQuery()
_CONFIG = sub_affiliate.SubAffiliateConfig()


@blueprint.post("/api/v1/programs")
@guarded(_WRITE)
def create_program() -> Response:
    """Create a program. 201 with it."""
    wanted = body.load(_BODY)
    return answers.once(lambda: _create(wanted))


def _create(wanted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    created = program_rules.create(organization_id=guards.organization_id(), wanted=wanted, now=now)
    shown = _RECORD.dump(created)
    audit.record("program.created", created.id, after=shown, now=now)
    return 201, shown


@blueprint.get("/api/v1/programs")
@guarded(_READ)
def list_programs() -> Mapping[str, object]:
    """List programs, newest first."""
    query = body.query(_QUERY)
    page = paging.wanted(query)
    with db.unit_of_work(guards.organization_id()):
        rows = programs.page(
            organization_id=guards.organization_id(),
            after=page.after,
            limit=page.limit,
            includes_archived=query["include_archived"],
        )
    return paging.envelope(page, rows, _shown)


@blueprint.get("/api/v1/programs/<program_id>")
@guarded(_READ)
def get_program(program_id: str) -> Mapping[str, object]:
    """Show one program, archived or not."""
    wanted_id = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):
        program = programs.find(organization_id=guards.organization_id(), program_id=wanted_id)
    if program is None:
        raise not_found("program", wanted_id)
    shown: Mapping[str, object] = _RECORD.dump(program)
    return shown


@blueprint.get("/api/v1/programs/<program_id>/sub-affiliate-config")
@guarded(_READ_CONFIG)
def get_sub_affiliate_config(program_id: str) -> Mapping[str, object]:
    """Show whether recruiting pays in a program, and what."""
    with db.unit_of_work(guards.organization_id()):
        program = programs.find(organization_id=guards.organization_id(), program_id=_config_id(program_id))
    return _config(program)


@blueprint.put("/api/v1/programs/<program_id>/sub-affiliate-config")
@guarded(_WRITE_CONFIG)
def put_sub_affiliate_config(program_id: str) -> Response:
    """Set both. 200 with them."""
    wanted_id = _config_id(program_id)
    return answers.once(lambda: _set_config(wanted_id))


def _set_config(program_id: UUID) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    program = programs.lock(organization_id=guards.organization_id(), program_id=program_id)
    before = _config(program)
    assert program is not None  # or there would be no configuration to show
    program_rules.set_sub_affiliate_config(program=program, changes=sub_affiliate.load(body.json_object()), now=now)
    after = _config(program)
    audit.record("program.sub_affiliate_config_changed", program_id, before=before, after=after, now=now)
    return 200, after


def _config_id(program_id: str) -> UUID:
    try:
        return path.uuid(program_id, "program")
    except Refused as refused:
        raise Refused(404) from refused


def _config(program: programs.Program | None) -> Mapping[str, object]:
    if program is None:
        raise Refused(404)
    shown: Mapping[str, object] = _CONFIG.dump(program)
    return shown


def _shown(rows: Sequence[programs.Program]) -> list[Any]:
    return [_RECORD.dump(row) for row in rows]
