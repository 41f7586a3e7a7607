"""A dispute about a milestone: opened by either side, settled by an operator.

While it is open nothing about the milestone moves. Settled, a part of it is paid to the affiliate as a release is, and
the rest goes back to the brand; the take stays. The deal is over when both have left.
Source: tracking spec, section 6, dispute.opened.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from domain.deals import events, funding, steps
from domain.deals.funding import FundingKind
from domain.deals.states import MilestoneStatus, Side
from domain.deals.steps import MilestoneStep
from domain.payouts.states import AttemptState, PayoutStatus
from domain.refusals import Refused
from models import ids
from models.deals import milestones, releases, requests
from models.deals.deals import Deal
from models.deals.milestones import Milestone
from models.payouts import payouts
from pipelines.deals import fund, release, submit
from pipelines.payouts import decisions
from pipelines.webhooks import emit


def begin(deal: Deal, seq: int, *, side: Side, words: Mapping[str, str], now: datetime) -> None:
    """Freeze a milestone of a deal that `money.lock` has locked; `words` are reason and proposed_resolution.

    A payout of it that failed is let go of first. Raises Refused: 404 not_found; 409 invalid_status_transition,
    rail_says_paid.
    """
    milestone = submit.find(deal, seq)
    _let_go_of_failed(milestone, now)
    submit.check(milestone, MilestoneStep.dispute)
    milestones.change(
        milestone,
        {
            "status": MilestoneStatus.Disputed,
            "auto_release_at": None,
            "opened_by": side,
            "dispute_reason": words["reason"],
            "proposed_resolution": words["proposed_resolution"],
            "disputed_at": now,
        },
    )
    emit.event(
        organization_id=deal.organization_id,
        type="dispute.opened",
        data=events.serialize_dispute_opened(
            deal_id=deal.id,
            milestone_id=milestone.id,
            seq=seq,
            opened_by=side,
            reason=words["reason"],
            proposed_resolution=words["proposed_resolution"],
        ),
        at=now,
    )


def settle(deal: Deal, milestone_id: UUID, *, to_affiliate_cents: int, now: datetime) -> Milestone:
    """Decide a dispute of a deal that `money.lock` has locked, for the operator; return the milestone as it is now.

    What the affiliate gets is paid as soon as they can be; the rest is given back at once. Raises Refused: 409
    invalid_status_transition; 400 amount_out_of_range.
    """
    milestone = milestones.find(organization_id=deal.organization_id, milestone_id=milestone_id)
    assert milestone is not None  # the caller found the deal by it
    submit.check(milestone, MilestoneStep.settle)
    if not 0 <= to_affiliate_cents <= milestone.amount_cents:
        message = f"The milestone is worth {milestone.amount_cents}; the affiliate gets 0 to that."
        raise Refused(400, "amount_out_of_range", message)
    settled = milestones.change(
        milestone,
        {"status": MilestoneStatus.Settled, "to_affiliate_cents": to_affiliate_cents, "settled_at": now},
    )
    if to_affiliate_cents < milestone.amount_cents:
        _ask_back(deal, settled)
    if to_affiliate_cents:
        release.due(organization_id=deal.organization_id, deal_id=deal.id, milestone_id=milestone_id, now=now)
    return settled


def ask_back_again(deal: Deal, milestone_id: UUID) -> None:
    """Ask once more for what of a settled milestone goes back, after the source refused it, for the operator.

    The deal is locked. Raises Refused 409 invalid_status_transition unless its last refund was refused.
    """
    milestone = milestones.find(organization_id=deal.organization_id, milestone_id=milestone_id)
    assert milestone is not None  # the caller found the deal by it
    last = _last_refund(milestone)
    if last is None or last.state != AttemptState.rejected:
        raise steps.invalid_transition("Only what a funding source refused to give back is asked for again.")
    _ask_back(deal, milestone)


def _ask_back(deal: Deal, milestone: Milestone) -> None:
    charge = requests.latest(organization_id=deal.organization_id, deal_id=deal.id, kind=FundingKind.charge)
    assert charge is not None
    assert charge.reference is not None  # the deal is funded
    assert milestone.to_affiliate_cents is not None
    last = _last_refund(milestone)
    number = last.number + 1 if last else 1
    request_id = ids.new_id()
    requests.stage_insert(
        id=request_id,
        organization_id=deal.organization_id,
        deal_id=deal.id,
        milestone_id=milestone.id,
        kind=FundingKind.refund,
        number=number,
        key=funding.refund_key(milestone_id=milestone.id, number=number),
        amount_cents=milestone.amount_cents - milestone.to_affiliate_cents,
        currency=deal.currency,
        usd_cents=0,
        source=None,
        charge_reference=charge.reference,
    )
    fund.enqueue(deal.organization_id, request_id)


def _last_refund(milestone: Milestone) -> requests.FundingRequest | None:
    return requests.latest(
        organization_id=milestone.organization_id,
        deal_id=milestone.deal_id,
        kind=FundingKind.refund,
        milestone_id=milestone.id,
    )


def _let_go_of_failed(milestone: Milestone, now: datetime) -> None:
    payout_id = releases.payout_of(organization_id=milestone.organization_id, milestone_id=milestone.id)
    if payout_id is None:
        return
    payout = payouts.lock(organization_id=milestone.organization_id, payout_id=payout_id)
    if payout is not None and payout.status == PayoutStatus.Failed:
        decisions.void(payout, now=now)
