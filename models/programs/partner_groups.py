"""Partner groups: affiliates of one program who share a rate."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import peewee

from models.db import db
from models.mutable import Moment, Table, rate


class PartnerGroup(Table):
    """A group of affiliates in one program."""

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    program_id = peewee.UUIDField()
    name = peewee.TextField()
    commission_type = peewee.TextField()
    commission_value = rate()
    commission_currency = peewee.TextField(null=True)
    created_at = Moment()


@dataclass(frozen=True, slots=True)
class Counted:
    """A group with the number of its affiliates. `commission_currency` is what a Fixed rate was set in."""

    id: UUID
    organization_id: UUID
    program_id: UUID
    name: str
    commission_type: str
    commission_value: Decimal
    commission_currency: str | None
    created_at: datetime
    affiliate_count: int


_COUNTED = """\
select g.id, g.organization_id, g.program_id, g.name, g.commission_type, g.commission_value, g.commission_currency,
  g.created_at, count(a.id)
from partner_group g
left join affiliate a on a.organization_id = g.organization_id and a.program_id = g.program_id
  and a.partner_group_id = g.id and a.deleted_at is null
where g.organization_id = %s and g.program_id = %s"""


def of_program(*, organization_id: UUID, program_id: UUID) -> list[Counted]:
    """Return the groups of a program, oldest first."""
    rows = db.run(f"{_COUNTED} group by g.id order by g.created_at, g.id", (organization_id, program_id))
    return [Counted(*row) for row in rows]


def find(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> Counted | None:
    """Return one group of a program."""
    row = db.row(f"{_COUNTED} and g.id = %s group by g.id", (organization_id, program_id, group_id))
    return Counted(*row) if row else None


def count(*, organization_id: UUID, program_id: UUID) -> int:
    """Return how many groups a program has."""
    groups = PartnerGroup.select().where(
        PartnerGroup.organization_id == organization_id, PartnerGroup.program_id == program_id
    )
    return groups.count()


def insert(values: Mapping[str, Any]) -> bool:
    """Insert a group; False when its program has one with this name."""
    return bool(PartnerGroup.insert(values).on_conflict(action="IGNORE").as_rowcount().execute() == 1)


def has_name(*, organization_id: UUID, program_id: UUID, name: str) -> bool:
    """Say whether a group of a program has this name."""
    named = PartnerGroup.select().where(
        PartnerGroup.organization_id == organization_id,
        PartnerGroup.program_id == program_id,
        PartnerGroup.name == name,
    )
    return named.exists()


def update(*, organization_id: UUID, program_id: UUID, group_id: UUID, changes: Mapping[str, Any]) -> None:
    """Change columns of a group."""
    PartnerGroup.update(changes).where(
        PartnerGroup.organization_id == organization_id,
        PartnerGroup.program_id == program_id,
        PartnerGroup.id == group_id,
    ).execute()


def stage_remove(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> None:
    """Delete a group; its affiliates leave it."""
    group = (organization_id, program_id, group_id)
    # Locked first, so that nobody joins between the two statements.
    db.stage("select from partner_group where organization_id = %s and program_id = %s and id = %s for update", group)
    db.stage(
        "update affiliate set partner_group_id = null"
        " where organization_id = %s and program_id = %s and partner_group_id = %s",
        group,
    )
    db.stage("delete from partner_group where organization_id = %s and program_id = %s and id = %s", group)
