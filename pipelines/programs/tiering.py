"""Performance tiers: from so much lifetime revenue on, an affiliate's sales are paid by another rate.

A tier's rate is what an affiliate of the program could have: core spec, "Program fields accepted on create or
update", rules 1 to 3. What a sale has earned stays as it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from domain.programs import terms
from models.programs import performance_tiers, programs
from models.programs.performance_tiers import ProgramTier
from pipelines.programs import home_rate


def replace(*, program: programs.Program, wanted: Sequence[Mapping[str, Any]]) -> list[ProgramTier]:
    """Set the tiers of a locked program as a whole and return them; none clears them.

    Their amounts are in the home currency of now, and keep it.
    `wanted` are `schemas.programs.performance_tier.PerformanceTier` loaded, ascending by their revenue.
    Raises Refused: what `terms.check_rate` raises, naming the position (`tiers.2.commissionValue`).
    """
    standard = home_rate.of(program.organization_id)
    tiers = [ProgramTier(**tier, currency=standard.currency) for tier in wanted]
    for position, tier in enumerate(tiers):
        terms.check_rate(
            model=program.default_commission_model,
            type=tier.commission_type,
            value=tier.commission_value,
            home=standard,
            prefix=f"tiers.{position}.",
        )
    performance_tiers.stage_replacement(organization_id=program.organization_id, program_id=program.id, tiers=tiers)
    return tiers
