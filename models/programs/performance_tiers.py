"""Performance tiers of a program."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from decimal import Decimal
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class ProgramTier:
    """A performance tier: from this lifetime revenue on, this rate.

    The revenue, and a Fixed rate that is a fee per click or lead, are in the tier's own currency: the home currency
    when it was set.
    """

    min_revenue_cents: int
    commission_type: str
    commission_value: Decimal
    currency: str


_TIERS = Rows(ProgramTier)
_OF_PROGRAM = f"""
select {columns(ProgramTier)} from performance_tier where organization_id = %s and program_id = %s
order by min_revenue_cents
"""
_CLEAR = "delete from performance_tier where organization_id = %s and program_id = %s"
_INSERT = """
insert into performance_tier (organization_id, program_id, min_revenue_cents, commission_type, commission_value,
  currency)
values (%s, %s, %s, %s, %s, %s)
"""


def list_of_program(*, organization_id: UUID, program_id: UUID) -> list[ProgramTier]:
    """Return a program's performance tiers, lowest first."""
    return _TIERS.all(_OF_PROGRAM, (organization_id, program_id))


def stage_replacement(*, organization_id: UUID, program_id: UUID, tiers: Sequence[ProgramTier]) -> None:
    """Stage the replacement of all performance tiers of a program."""
    program = (organization_id, program_id)
    db.stage(_CLEAR, program)
    for tier in tiers:
        db.stage(_INSERT, (*program, *astuple(tier)))
