"""What a preview or a run may be narrowed to: only what the organization has.

Source: core spec, "Payouts", preview and run bodies.
"""

from uuid import UUID

from domain.payouts.confirmation import RunFilters
from domain.refusals import Refused, not_found
from models.affiliates import sets
from models.programs import programs

_SHOWN_IDS = 100


def check(*, organization_id: UUID, filters: RunFilters) -> None:
    """Refuse filters that name what is not there: a wrong id must not widen or silently narrow what is paid.

    Raises Refused: 404 not_found for the program, 400 invalid_affiliate_ids with the ids that nobody has.
    """
    if filters.program_id and programs.find(organization_id=organization_id, program_id=filters.program_id) is None:
        raise not_found("program", filters.program_id)
    unknown = _unknown(organization_id, filters)
    if unknown:
        message = f"There are no such affiliates in this organization: {len(unknown)} of the ids are unknown."
        raise Refused(
            400,
            "invalid_affiliate_ids",
            message,
            field="affiliateIds",
            invalid=[str(one) for one in unknown[:_SHOWN_IDS]],
        )


def check_affiliate(*, organization_id: UUID, affiliate_id: UUID) -> None:
    """Refuse an affiliate whom the organization does not have. Raises Refused 404 not_found."""
    if not sets.known(organization_id=organization_id, affiliate_ids=[affiliate_id]):
        raise not_found("affiliate", affiliate_id)


def _unknown(organization_id: UUID, filters: RunFilters) -> list[UUID]:
    if filters.affiliate_ids is None:
        return []
    known = sets.known(organization_id=organization_id, affiliate_ids=filters.affiliate_ids)
    return [affiliate_id for affiliate_id in filters.affiliate_ids if affiliate_id not in known]
