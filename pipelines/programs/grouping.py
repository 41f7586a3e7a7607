"""Partner groups: affiliates of one program who share a rate.

A group's rate is what an affiliate of the program could have: core spec, "Program fields accepted on create or
update", rules 1 to 3. Groups change under their program's lock, so that names and their number can be counted on.
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

_MOST_GROUPS = 100


def create(*, organization_id: UUID, program_id: UUID, wanted: Mapping[str, Any], now: datetime) -> CountedGroup:
    """Create a group. `wanted` is `schemas.programs.partner_group.PartnerGroupBody` loaded.

    Raises Refused: 404 not_found for the program; 409 invalid_status_transition for an archived one,
    partner_group_name_taken, partner_group_limit_reached; what `terms.check_rate` raises.
    """
    program = lifecycle.lock_living(organization_id=organization_id, program_id=program_id)
    standard = home_rate.of(organization_id)
    _check_rate(program, wanted["commission_type"], wanted["commission_value"], standard)
    if partner_groups.count(organization_id=organization_id, program_id=program_id) >= _MOST_GROUPS:
        raise Refused(409, "partner_group_limit_reached", f"A program has at most {_MOST_GROUPS} groups.")
    values = {
        "id": ids.new_id(),
        "organization_id": organization_id,
        "program_id": program_id,
        **wanted,
        "commission_currency": terms.rate_currency(wanted["commission_type"], standard.currency),
        "created_at": now,
    }
    if not partner_groups.insert(values):
        raise _name_taken()
    return CountedGroup(**values, affiliate_count=0)


def find(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> CountedGroup:
    """Return one group of a program. Raises Refused 404 not_found."""
    group = partner_groups.find(organization_id=organization_id, program_id=program_id, group_id=group_id)
    if group is None:
        raise not_found("partner group", group_id)
    return group


def lock(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> tuple[programs.Program, CountedGroup]:
    """Return a group that can be changed and its program, locked until the transaction ends.

    Raises Refused: 404 not_found; 409 invalid_status_transition for an archived program.
    """
    program = lifecycle.lock_living(organization_id=organization_id, program_id=program_id)
    return program, find(organization_id=organization_id, program_id=program_id, group_id=group_id)


def change(*, program: programs.Program, group: CountedGroup, changes: Mapping[str, Any]) -> CountedGroup:
    """Change a group of a locked program and return it as it is now; itself when nothing changes.

    `changes` is `PartnerGroupChanges` loaded; a Fixed rate in it is in the home currency of now.
    Raises Refused: 409 partner_group_name_taken; what `terms.check_rate` raises.
    """
    standard = home_rate.of(program.organization_id)
    changed = _changed(group, changes, standard.currency)
    if changed == group:
        return group
    if _rate(changed) != _rate(group):
        _check_rate(program, changed.commission_type, changed.commission_value, standard)
    of_program = {"organization_id": group.organization_id, "program_id": group.program_id}
    if changed.name != group.name and partner_groups.has_name(**of_program, name=changed.name):
        raise _name_taken()
    columns = {**changes, "commission_currency": changed.commission_currency}
    partner_groups.update(**of_program, group_id=group.id, changes=columns)
    return changed


def remove(group: CountedGroup) -> None:
    """Delete a group of a locked program; its affiliates leave it and keep their history."""
    partner_groups.stage_remove(organization_id=group.organization_id, program_id=group.program_id, group_id=group.id)


def _changed(group: CountedGroup, changes: Mapping[str, Any], currency: str) -> CountedGroup:
    changed = replace(group, **changes)
    if changes.keys() & {"commission_type", "commission_value"}:
        return replace(changed, commission_currency=terms.rate_currency(changed.commission_type, currency))
    return changed


def _rate(group: CountedGroup) -> tuple[object, ...]:
    return group.commission_type, group.commission_value, group.commission_currency


def _check_rate(program: programs.Program, type: str, value: Any, standard: ceilings.Home) -> None:
    terms.check_rate(
        model=program.default_commission_model,
        type=type,
        value=value,
        home=standard,
        prefix="",
    )


def _name_taken() -> Refused:
    return Refused(409, "partner_group_name_taken", "Another group of this program has this name.", field="name")
