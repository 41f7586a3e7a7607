"""The steps from a draft to an accepted, declined or cancelled deal; none of them moves money."""

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


def create(*, organization_id: UUID, body: Mapping[str, Any], is_test: bool, now: datetime) -> UUID:
    """Write a draft with its milestones and return its id. `body` is `schemas.deals.deal.DealBody` loaded.

    Raises Refused: 404 not_found; 400 affiliate_not_in_program, test_affiliate_not_allowed, no_active_program; 409
    affiliate_not_approved.
    """
    _check_party(organization_id, body)
    deal_id = ids.new_id()
    deals.insert(
        {
            "id": deal_id,
            "organization_id": organization_id,
            "program_id": body["program_id"],
            "affiliate_id": body["affiliate_id"],
            "title": body["title"],
            "currency": body["currency"],
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
                "title": milestone["title"],
                "amount_cents": milestone["amount_cents"],
                "due_at": milestone["due_at"],
            }
            for seq, milestone in enumerate(body["milestones"], start=1)
        ]
    )
    return deal_id


def lock(*, organization_id: UUID, deal_id: UUID) -> Deal:
    """Return a deal, locked, or refuse with 404 not_found."""
    deal = deals.lock(organization_id=organization_id, deal_id=deal_id)
    if deal is None:
        raise not_found("deal", deal_id)
    return deal


def check_step(deal: Deal, step: DealStep) -> None:
    """Check that a locked deal can take a step. Raises Refused 409 invalid_status_transition."""
    charge = requests.find_latest(organization_id=deal.organization_id, deal_id=deal.id, kind=FundingKind.charge)
    steps.check_deal(deal.status, step, is_charging=charge is not None and charge.state != AttemptState.rejected)


def make_offer(deal: Deal, *, now: datetime) -> Deal:
    """Offer a locked draft to its affiliate. Raises Refused 409 invalid_status_transition."""
    check_step(deal, DealStep.offer)
    return deals.change(deal, {"status": DealStatus.Offered, "offered_at": now})


def cancel(deal: Deal, *, now: datetime) -> Deal:
    """Withdraw a locked deal that was not charged yet. Raises Refused 409 invalid_status_transition."""
    check_step(deal, DealStep.cancel)
    return deals.change(deal, {"status": DealStatus.Cancelled, "ended_at": now})


def accept(deal: Deal, *, now: datetime) -> Deal:
    """Accept an offer, for its affiliate. Raises Refused 409 invalid_status_transition."""
    check_step(deal, DealStep.accept)
    return deals.change(deal, {"status": DealStatus.Accepted, "answered_at": now})


def decline(deal: Deal, *, now: datetime) -> Deal:
    """Decline an offer, for its affiliate. Raises Refused 409 invalid_status_transition."""
    check_step(deal, DealStep.decline)
    return deals.change(deal, {"status": DealStatus.Declined, "answered_at": now, "ended_at": now})


def _check_party(organization_id: UUID, body: Mapping[str, Any]) -> None:
    if programs.find(organization_id=organization_id, program_id=body["program_id"]) is None:
        raise not_found("program", body["program_id"])
    party = deals.find_party(organization_id=organization_id, affiliate_id=body["affiliate_id"])
    if party is None:
        raise not_found("affiliate", body["affiliate_id"])
    if party.program_id != body["program_id"]:
        raise Refused(400, "affiliate_not_in_program", "The affiliate is in another program.", field="affiliateId")
    if party.is_test:
        message = "This is a test affiliate, which is never paid."
        raise Refused(400, "test_affiliate_not_allowed", message, field="affiliateId")
    if party.is_archived:
        raise Refused(400, "no_active_program", "The program is archived.", field="programId")
    if party.status != AffiliateStatus.Approved:
        raise Refused(409, "affiliate_not_approved", f"The affiliate is {party.status}, not Approved.")
