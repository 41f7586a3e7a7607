"""Partner groups: affiliates of one program who share a rate.

A group's rate obeys the rules for an affiliate's rate in the program: core spec, "Program fields accepted on create or
update", rules 1 to 3. Groups change under their program's lock, so names stay unique and their number stays limited.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.programs import ceilings, terms
from domain.refusals import Refused, not_found
from models import ids
from models.programs import partner_groups, programs
from models.programs.partner_groups import CountedGroup
from pipelines.programs import home_rate, lifecycle

_MAX_GROUPS = 100


def create(*, organization_id: UUID, program_id: UUID, body: Mapping[str, Any], now: datetime) -> CountedGroup:
    """Create a group. `body` is `schemas.programs.partner_group.PartnerGroupBody` loaded.

    Raises Refused: 404 not_found for the program; 409 invalid_status_transition for an archived one,
    partner_group_name_taken, partner_group_limit_reached; as `terms.check_rate`.
    """
    program = lifecycle.lock_unarchived(organization_id=organization_id, program_id=program_id)
    home = home_rate.find(organization_id)
    _check_rate(program, body["commission_type"], body["commission_value"], home)
    if partner_groups.count(organization_id=organization_id, program_id=program_id) >= _MAX_GROUPS:
        raise Refused(409, "partner_group_limit_reached", f"A program has at most {_MAX_GROUPS} groups.")
    values = {
        "id": ids.new_id(),
        "organization_id": organization_id,
        "program_id": program_id,
        **body,
        "commission_currency": terms.rate_currency(body["commission_type"], home.currency),
        "created_at": now,
    }
    if not partner_groups.insert(values):
        raise _name_taken_refusal()
    return CountedGroup(**values, affiliate_count=0)


def find(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> CountedGroup:
    """Return one group of a program. Raises Refused 404 not_found."""
    group = partner_groups.find(organization_id=organization_id, program_id=program_id, group_id=group_id)
    if group is None:
        raise not_found("partner group", group_id)
    return group


def lock(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> tuple[programs.Program, CountedGroup]:
    """Return a program and its group for a change, locked until the transaction ends.

    Raises Refused: 404 not_found; 409 invalid_status_transition for an archived program.
    """
    program = lifecycle.lock_unarchived(organization_id=organization_id, program_id=program_id)
    return program, find(organization_id=organization_id, program_id=program_id, group_id=group_id)


def change(*, program: programs.Program, group: CountedGroup, changes: Mapping[str, Any]) -> CountedGroup:
    """Change a group of a locked program and return the updated row; the same row where nothing changes.

    `changes` is `PartnerGroupChanges` loaded; a Fixed rate in it is in the current home currency.
    Raises Refused: 409 partner_group_name_taken; as `terms.check_rate`.
    """
    home = home_rate.find(program.organization_id)
    after = _apply_changes(group, changes, home.currency)
    if after == group:
        return group
    if _rate_of(after) != _rate_of(group):
        _check_rate(program, after.commission_type, after.commission_value, home)
    where = {"organization_id": group.organization_id, "program_id": group.program_id}
    if after.name != group.name and partner_groups.has_name(**where, name=after.name):
        raise _name_taken_refusal()
    columns = {**changes, "commission_currency": after.commission_currency}
    partner_groups.update(**where, group_id=group.id, changes=columns)
    return after


def remove(group: CountedGroup) -> None:
    """Delete a group of a locked program; its affiliates leave it and keep their earnings."""
    partner_groups.stage_remove(organization_id=group.organization_id, program_id=group.program_id, group_id=group.id)


def _apply_changes(group: CountedGroup, changes: Mapping[str, Any], currency: str) -> CountedGroup:
    after = replace(group, **changes)
    if changes.keys() & {"commission_type", "commission_value"}:
        return replace(after, commission_currency=terms.rate_currency(after.commission_type, currency))
    return after


def _rate_of(group: CountedGroup) -> tuple[object, ...]:
    return group.commission_type, group.commission_value, group.commission_currency


def _check_rate(program: programs.Program, type: str, value: Any, home: ceilings.Home) -> None:
    terms.check_rate(
        model=program.default_commission_model,
        type=type,
        value=value,
        home=home,
        prefix="",
    )


def _name_taken_refusal() -> Refused:
    return Refused(409, "partner_group_name_taken", "Another group of this program has this name.", field="name")
