"""A dispute about a milestone: opened by either side, settled by an operator.

While it is open the milestone is frozen. When it is settled, a part is paid to the affiliate like a release, and the
rest is refunded to the brand; our fee (the take) is not. The deal ends when both payments are done.
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
from pipelines.deals import charge, release, submission
from pipelines.payouts import decisions
from pipelines.webhooks import emit


def open_dispute(deal: Deal, seq: int, *, side: Side, statement: Mapping[str, str], now: datetime) -> None:
    """Freeze a milestone of a deal that `money.lock_for_payment_request` has locked.

    `statement` has reason and proposed_resolution. A failed payout of the milestone is voided first. Raises Refused:
    404 not_found; 409 invalid_status_transition, rail_says_paid.
    """
    milestone = submission.find(deal, seq)
    _void_failed_payout(milestone, now)
    submission.check_step(milestone, MilestoneStep.dispute)
    milestones.change(
        milestone,
        {
            "status": MilestoneStatus.Disputed,
            "auto_release_at": None,
            "opened_by": side,
            "dispute_reason": statement["reason"],
            "proposed_resolution": statement["proposed_resolution"],
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
            reason=statement["reason"],
            proposed_resolution=statement["proposed_resolution"],
        ),
        at=now,
    )


def settle(deal: Deal, milestone_id: UUID, *, to_affiliate_cents: int, now: datetime) -> Milestone:
    """Decide a dispute for the operator; the deal is locked by `money.lock_for_payment_request`. Return the milestone.

    The affiliate's part is paid as soon as they can be paid; the rest is refunded at once. Raises Refused: 409
    invalid_status_transition; 400 amount_out_of_range.
    """
    milestone = milestones.find(organization_id=deal.organization_id, milestone_id=milestone_id)
    assert milestone is not None  # the caller found the deal by it
    submission.check_step(milestone, MilestoneStep.settle)
    if not 0 <= to_affiliate_cents <= milestone.amount_cents:
        message = f"The affiliate can get from 0 to {milestone.amount_cents}, the milestone's amount."
        raise Refused(400, "amount_out_of_range", message)
    settled = milestones.change(
        milestone,
        {"status": MilestoneStatus.Settled, "to_affiliate_cents": to_affiliate_cents, "settled_at": now},
    )
    if to_affiliate_cents < milestone.amount_cents:
        _request_refund(deal, settled)
    if to_affiliate_cents:
        release.pay_if_due(organization_id=deal.organization_id, deal_id=deal.id, milestone_id=milestone_id, now=now)
    return settled


def retry_refund(deal: Deal, milestone_id: UUID) -> None:
    """Request the refund of a settled milestone again, after the source refused it, for the operator.

    The deal is locked. Raises Refused 409 invalid_status_transition unless its last refund was refused.
    """
    milestone = milestones.find(organization_id=deal.organization_id, milestone_id=milestone_id)
    assert milestone is not None  # the caller found the deal by it
    last = _last_refund(milestone)
    if last is None or last.state != AttemptState.rejected:
        raise steps.invalid_transition("Only a refund that the funding source refused can be requested again.")
    _request_refund(deal, milestone)


def _request_refund(deal: Deal, milestone: Milestone) -> None:
    paid_charge = requests.find_latest(organization_id=deal.organization_id, deal_id=deal.id, kind=FundingKind.charge)
    assert paid_charge is not None
    assert paid_charge.reference is not None  # the deal is funded
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
        charge_reference=paid_charge.reference,
    )
    charge.enqueue(deal.organization_id, request_id)


def _last_refund(milestone: Milestone) -> requests.FundingRequest | None:
    return requests.find_latest(
        organization_id=milestone.organization_id,
        deal_id=milestone.deal_id,
        kind=FundingKind.refund,
        milestone_id=milestone.id,
    )


def _void_failed_payout(milestone: Milestone, now: datetime) -> None:
    payout_id = releases.find_payout(organization_id=milestone.organization_id, milestone_id=milestone.id)
    if payout_id is None:
        return
    payout = payouts.lock(organization_id=milestone.organization_id, payout_id=payout_id)
    if payout is not None and payout.status == PayoutStatus.Failed:
        decisions.void(payout, now=now)
