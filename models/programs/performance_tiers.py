"""Performance tiers of a program."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from models.db import db


@dataclass(frozen=True, slots=True)
class Tier:
    """A performance tier: from this lifetime revenue on, this rate.

    The revenue, and a Fixed rate where it is a fee per click or lead, are in the tier's own currency: what was the home
    currency when it was set.
    """

    min_revenue_cents: int
    commission_type: str
    commission_value: Decimal
    currency: str


def of_program(*, organization_id: UUID, program_id: UUID) -> list[Tier]:
    """Return a program's performance tiers, lowest first."""
    rows = db.run(
        "select min_revenue_cents, commission_type, commission_value, currency from performance_tier"
        " where organization_id = %s and program_id = %s order by min_revenue_cents",
        (organization_id, program_id),
    )
    return [Tier(*row) for row in rows]


def stage_replacement(*, organization_id: UUID, program_id: UUID, tiers: Sequence[Tier]) -> None:
    """Stage a program's performance tiers as a whole."""
    db.stage(
        "delete from performance_tier where organization_id = %s and program_id = %s", (organization_id, program_id)
    )
    for tier in tiers:
        db.stage(
            "insert into performance_tier (organization_id, program_id, min_revenue_cents, commission_type,"
            " commission_value, currency) values (%s, %s, %s, %s, %s, %s)",
            (
                organization_id,
                program_id,
                tier.min_revenue_cents,
                tier.commission_type,
                tier.commission_value,
                tier.currency,
            ),
        )
