"""Partner groups: affiliates of one program who share a rate."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from models.db import db
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class PartnerGroup:
    """A group of affiliates in one program. `commission_currency` is the currency of a Fixed rate."""

    id: UUID
    organization_id: UUID
    program_id: UUID
    name: str
    commission_type: str
    commission_value: Decimal
    commission_currency: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class CountedGroup(PartnerGroup):
    """A group with the number of its affiliates."""

    affiliate_count: int


_TABLE = Table("partner_group", PartnerGroup)
#: Insert a group; False if its program has one with this name.
insert = _TABLE.insert
_COUNTED_ROWS = Rows(CountedGroup)
_COUNTED = f"""
select {columns(CountedGroup, "g", affiliate_count="count(a.id)")}
from partner_group g
left join affiliate a on a.organization_id = g.organization_id and a.program_id = g.program_id
  and a.partner_group_id = g.id and a.deleted_at is null
where g.organization_id = %s and g.program_id = %s
"""
_OF_PROGRAM = f"{_COUNTED} group by g.organization_id, g.id order by g.created_at, g.id"
_FIND = f"{_COUNTED} and g.id = %s group by g.organization_id, g.id"
_COUNT = "select count(*) from partner_group where organization_id = %s and program_id = %s"
_HAS_NAME = "select from partner_group where organization_id = %s and program_id = %s and name = %s"


def list_of_program(*, organization_id: UUID, program_id: UUID) -> list[CountedGroup]:
    """Return the groups of a program, oldest first."""
    return _COUNTED_ROWS.all(_OF_PROGRAM, (organization_id, program_id))


_PROGRAM_OF = "select program_id from partner_group where organization_id = %s and id = %s"


def find_program_id(*, organization_id: UUID, group_id: UUID) -> UUID | None:
    """Return the program of a group, None without such a group."""
    row = db.row(_PROGRAM_OF, (organization_id, group_id))
    return row[0] if row else None


def find(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> CountedGroup | None:
    """Return one group of a program."""
    return _COUNTED_ROWS.first(_FIND, (organization_id, program_id, group_id))


def count(*, organization_id: UUID, program_id: UUID) -> int:
    """Return how many groups a program has."""
    row = db.row(_COUNT, (organization_id, program_id))
    assert row is not None
    return int(row[0])


def has_name(*, organization_id: UUID, program_id: UUID, name: str) -> bool:
    """Return whether a group of a program has this name."""
    return bool(db.run(_HAS_NAME, (organization_id, program_id, name)))


def update(*, organization_id: UUID, program_id: UUID, group_id: UUID, changes: Mapping[str, Any]) -> None:
    """Change columns of a group."""
    _TABLE.update({"organization_id": organization_id, "program_id": program_id, "id": group_id}, changes)


# Locked first, so that no affiliate joins before all have left.
_LOCK = "select from partner_group where organization_id = %s and program_id = %s and id = %s for update"
_LEAVE = """
update affiliate set partner_group_id = null where organization_id = %s and program_id = %s and partner_group_id = %s
"""
_REMOVE = "delete from partner_group where organization_id = %s and program_id = %s and id = %s"


def stage_remove(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> None:
    """Stage the deletion of a group; its affiliates leave it."""
    for statement in (_LOCK, _LEAVE, _REMOVE):
        db.stage(statement, (organization_id, program_id, group_id))
