"""Performance tiers: above a lifetime revenue, an affiliate's sales earn another rate.

A tier's rate obeys the rules for an affiliate's rate in the program: core spec, "Program fields accepted on create or
update", rules 1 to 3. Commissions of earlier sales do not change.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from domain.programs import terms
from models.programs import performance_tiers, programs
from models.programs.performance_tiers import ProgramTier
from pipelines.programs import home_rate


def replace_all(*, program: programs.Program, bodies: Sequence[Mapping[str, Any]]) -> list[ProgramTier]:
    """Replace all tiers of a locked program and return them; an empty list removes them.

    Their amounts are in the current home currency, and keep that currency.
    `bodies` are `schemas.programs.performance_tier.PerformanceTier` loaded, ascending by their revenue.
    Raises Refused: as `terms.check_rate`, naming the position (`tiers.2.commissionValue`).
    """
    home = home_rate.find(program.organization_id)
    tiers = [ProgramTier(**tier, currency=home.currency) for tier in bodies]
    for position, tier in enumerate(tiers):
        terms.check_rate(
            model=program.default_commission_model,
            type=tier.commission_type,
            value=tier.commission_value,
            home=home,
            prefix=f"tiers.{position}.",
        )
    performance_tiers.stage_replacement(organization_id=program.organization_id, program_id=program.id, tiers=tiers)
    return tiers
