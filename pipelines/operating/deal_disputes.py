"""An operator's view of any organization's deal, and decisions about its disputes."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.refusals import not_found
from models.deals import admin_queries, deals, milestones, requests
from models.deals.admin_queries import AdminRelease, DealParties
from models.deals.deals import Deal
from models.deals.milestones import Milestone
from models.deals.requests import FundingRequest
from pipelines.deals import dispute, money, submission


@dataclass(frozen=True, slots=True)
class DealDetails:
    """A deal with its brand and affiliate, its milestones, their payouts, and its funding requests."""

    deal: Deal
    sides: DealParties
    milestones: list[Milestone]
    payouts: list[AdminRelease]
    requests: list[FundingRequest]


def any_org_find(deal_id: UUID) -> DealDetails:
    """Return a deal with everything about it. Raises Refused 404 not_found. Budget: 5 statements."""
    sides = _find_sides(deal_id)
    key = {"organization_id": sides.organization_id, "deal_id": deal_id}
    deal = deals.find(**key)
    assert deal is not None  # deals are never deleted
    return DealDetails(
        deal,
        sides,
        milestones.list_of_deal(**key),
        admin_queries.list_payouts(**key),
        requests.list_of_deal(**key),
    )


def any_org_settle(*, deal_id: UUID, seq: int, to_affiliate_cents: int, now: datetime) -> tuple[Deal, Milestone]:
    """Decide a dispute as `dispute.settle` does; return the deal before it and the milestone after it.

    Raises Refused: 404 not_found, 409 invalid_status_transition, 400 amount_out_of_range.
    """
    deal, milestone = _lock(deal_id, seq)
    return deal, dispute.settle(deal, milestone.id, to_affiliate_cents=to_affiliate_cents, now=now)


def any_org_retry_refund(*, deal_id: UUID, seq: int) -> Deal:
    """Request the refund of a settled milestone again, as `dispute.retry_refund` does; return its deal.

    Raises Refused: 404 not_found, 409 invalid_status_transition.
    """
    deal, milestone = _lock(deal_id, seq)
    dispute.retry_refund(deal, milestone.id)
    return deal


def audit_data(deal: Deal, settled: Milestone) -> dict[str, object]:
    """Return the audit log's data of a settled dispute."""
    assert settled.to_affiliate_cents is not None
    return {
        "dealId": str(deal.id),
        "seq": settled.seq,
        "status": settled.status,
        "toAffiliateCents": settled.to_affiliate_cents,
        "toBrandCents": settled.amount_cents - settled.to_affiliate_cents,
        "currency": deal.currency,
    }


def _lock(deal_id: UUID, seq: int) -> tuple[Deal, Milestone]:
    deal = money.lock_for_payment_request(organization_id=_find_sides(deal_id).organization_id, deal_id=deal_id)
    return deal, submission.find(deal, seq)


def _find_sides(deal_id: UUID) -> DealParties:
    sides = admin_queries.any_org_find_parties(deal_id)
    if sides is None:
        raise not_found("deal", deal_id)
    return sides
