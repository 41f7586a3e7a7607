"""What operators see of a deal of any organization, and decide about disputes of it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.refusals import not_found
from models.deals import deals, desk, milestones, requests
from models.deals.deals import Deal
from models.deals.desk import DealSides, DeskRelease
from models.deals.milestones import Milestone
from models.deals.requests import FundingRequest
from pipelines.deals import dispute, money, submit


@dataclass(frozen=True, slots=True)
class WholeDeal:
    """A deal with both of its sides, its milestones, the payouts of them, and what its source was asked."""

    deal: Deal
    sides: DealSides
    milestones: list[Milestone]
    payouts: list[DeskRelease]
    requests: list[FundingRequest]


def any_org_whole(deal_id: UUID) -> WholeDeal:
    """Return a deal with everything about it. Raises Refused 404 not_found. Budget: 5 statements."""
    sides = _sides(deal_id)
    where = {"organization_id": sides.organization_id, "deal_id": deal_id}
    deal = deals.find(**where)
    assert deal is not None  # deals stay
    return WholeDeal(deal, sides, milestones.of_deal(**where), desk.payouts(**where), requests.of_deal(**where))


def any_org_settle(*, deal_id: UUID, seq: int, to_affiliate_cents: int, now: datetime) -> tuple[Deal, Milestone]:
    """Decide a dispute as `dispute.settle` does; return the deal as it was and the milestone as it is now.

    Raises Refused: 404 not_found, 409 invalid_status_transition, 400 amount_out_of_range.
    """
    deal, milestone = _locked(deal_id, seq)
    return deal, dispute.settle(deal, milestone.id, to_affiliate_cents=to_affiliate_cents, now=now)


def any_org_ask_back_again(*, deal_id: UUID, seq: int) -> Deal:
    """Ask once more for what of a settled milestone goes back, as `dispute.ask_back_again` does; return its deal.

    Raises Refused: 404 not_found, 409 invalid_status_transition.
    """
    deal, milestone = _locked(deal_id, seq)
    dispute.ask_back_again(deal, milestone.id)
    return deal


def said_of(deal: Deal, settled: Milestone) -> dict[str, object]:
    """Return what the audit log keeps of a dispute that was settled."""
    assert settled.to_affiliate_cents is not None
    return {
        "dealId": str(deal.id),
        "seq": settled.seq,
        "status": settled.status,
        "toAffiliateCents": settled.to_affiliate_cents,
        "toBrandCents": settled.amount_cents - settled.to_affiliate_cents,
        "currency": deal.currency,
    }


def _locked(deal_id: UUID, seq: int) -> tuple[Deal, Milestone]:
    deal = money.lock(organization_id=_sides(deal_id).organization_id, deal_id=deal_id)
    return deal, submit.find(deal, seq)


def _sides(deal_id: UUID) -> DealSides:
    found = desk.any_org_sides(deal_id)
    if found is None:
        raise not_found("deal", deal_id)
    return found
