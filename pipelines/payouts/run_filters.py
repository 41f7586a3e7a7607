"""Checks the filters of a preview or a run: they may only name what the organization has.

Source: core spec, "Payouts", preview and run bodies.
"""

from uuid import UUID

from domain.payouts.confirmation import RunFilters
from domain.refusals import Refused, not_found
from models.affiliates import bulk_actions
from models.programs import programs

_MAX_LISTED_IDS = 100


def check(*, organization_id: UUID, filters: RunFilters) -> None:
    """Check that program and affiliates exist: a wrong id must not widen or silently narrow what is paid.

    Raises Refused: 404 not_found for the program, 400 invalid_affiliate_ids with the unknown ids.
    """
    if filters.program_id and programs.find(organization_id=organization_id, program_id=filters.program_id) is None:
        raise not_found("program", filters.program_id)
    unknown = _unknown_affiliates(organization_id, filters)
    if unknown:
        message = f"{len(unknown)} of the affiliate ids do not exist in this organization."
        raise Refused(
            400,
            "invalid_affiliate_ids",
            message,
            field="affiliateIds",
            invalid=[str(affiliate_id) for affiliate_id in unknown[:_MAX_LISTED_IDS]],
        )


def check_affiliate(*, organization_id: UUID, affiliate_id: UUID) -> None:
    """Check that the organization has an affiliate. Raises Refused 404 not_found."""
    if not bulk_actions.find_existing(organization_id=organization_id, affiliate_ids=[affiliate_id]):
        raise not_found("affiliate", affiliate_id)


def _unknown_affiliates(organization_id: UUID, filters: RunFilters) -> list[UUID]:
    if filters.affiliate_ids is None:
        return []
    known_ids = bulk_actions.find_existing(organization_id=organization_id, affiliate_ids=filters.affiliate_ids)
    return [affiliate_id for affiliate_id in filters.affiliate_ids if affiliate_id not in known_ids]
