"""From a draft to an accepted deal, or to none: nothing of it moves money."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.deals import steps
from domain.deals.funding import FundingKind
from domain.deals.states import DealStatus
from domain.deals.steps import DealStep
from domain.payouts.states import AttemptState
from domain.refusals import Refused, not_found
from domain.statuses import AffiliateStatus
from models import ids
from models.deals import deals, milestones, requests
from models.deals.deals import Deal
from models.programs import programs


def create(*, organization_id: UUID, wanted: Mapping[str, Any], is_test: bool, now: datetime) -> UUID:
    """Write a draft with its milestones and return its id. `wanted` is `schemas.deals.deal.DealBody` loaded.

    Raises Refused: 404 not_found; 400 affiliate_not_in_program, test_affiliate_not_allowed, no_active_program; 409
    affiliate_not_approved.
    """
    _check_party(organization_id, wanted)
    deal_id = ids.new_id()
    deals.insert(
        {
            "id": deal_id,
            "organization_id": organization_id,
            "program_id": wanted["program_id"],
            "affiliate_id": wanted["affiliate_id"],
            "title": wanted["title"],
            "currency": wanted["currency"],
            "is_test": is_test,
            "created_at": now,
        }
    )
    milestones.stage_all(
        [
            {
                "id": ids.new_id(),
                "organization_id": organization_id,
                "deal_id": deal_id,
                "seq": seq,
                "title": one["title"],
                "amount_cents": one["amount_cents"],
                "due_at": one["due_at"],
            }
            for seq, one in enumerate(wanted["milestones"], start=1)
        ]
    )
    return deal_id


def lock(*, organization_id: UUID, deal_id: UUID) -> Deal:
    """Return a deal, locked, or refuse with 404 not_found."""
    deal = deals.lock(organization_id=organization_id, deal_id=deal_id)
    if deal is None:
        raise not_found("deal", deal_id)
    return deal


def check(deal: Deal, step: DealStep) -> None:
    """Let a locked deal take a step, or raise Refused 409 invalid_status_transition."""
    charge = requests.latest(organization_id=deal.organization_id, deal_id=deal.id, kind=FundingKind.charge)
    steps.check_deal(deal.status, step, is_charging=charge is not None and charge.state != AttemptState.rejected)


def make_offer(deal: Deal, *, now: datetime) -> Deal:
    """Offer a locked draft to its affiliate. Raises Refused 409 invalid_status_transition."""
    check(deal, DealStep.offer)
    return deals.change(deal, {"status": DealStatus.Offered, "offered_at": now})


def cancel(deal: Deal, *, now: datetime) -> Deal:
    """Withdraw a locked deal that was not charged yet. Raises Refused 409 invalid_status_transition."""
    check(deal, DealStep.cancel)
    return deals.change(deal, {"status": DealStatus.Cancelled, "ended_at": now})


def accept(deal: Deal, *, now: datetime) -> Deal:
    """Take what was offered, for its affiliate. Raises Refused 409 invalid_status_transition."""
    check(deal, DealStep.accept)
    return deals.change(deal, {"status": DealStatus.Accepted, "answered_at": now})


def decline(deal: Deal, *, now: datetime) -> Deal:
    """Turn an offer down, for its affiliate. Raises Refused 409 invalid_status_transition."""
    check(deal, DealStep.decline)
    return deals.change(deal, {"status": DealStatus.Declined, "answered_at": now, "ended_at": now})


def _check_party(organization_id: UUID, wanted: Mapping[str, Any]) -> None:
    if programs.find(organization_id=organization_id, program_id=wanted["program_id"]) is None:
        raise not_found("program", wanted["program_id"])
    party = deals.party(organization_id=organization_id, affiliate_id=wanted["affiliate_id"])
    if party is None:
        raise not_found("affiliate", wanted["affiliate_id"])
    if party.program_id != wanted["program_id"]:
        raise Refused(400, "affiliate_not_in_program", "The affiliate is in another program.", field="affiliateId")
    if party.is_test:
        message = "The affiliate is one to rehearse with and is never paid."
        raise Refused(400, "test_affiliate_not_allowed", message, field="affiliateId")
    if party.is_archived:
        raise Refused(400, "no_active_program", "The campaign is archived.", field="programId")
    if party.status != AffiliateStatus.Approved:
        raise Refused(409, "affiliate_not_approved", f"The affiliate is {party.status}, not Approved.")
