"""Milestones that a forgotten payout has paid: the payout is inserted again, at once or when the milestone is due.

A deal that was funded after the time of the restore has to be funded again before its milestone can be paid, and
nothing is funded while payouts are on hold. Such a transfer waits, and pays the milestone instead of a new payout.
"""

from datetime import UTC, datetime
from uuid import UUID

from domain.payouts import native_sums
from domain.payouts.transfers import MANUAL
from domain.refusals import Refused
from domain.restores.transfers import Problem, RailTransfer, TransferOutcome, TransferState, parse_key
from models import ids
from models.deals import deals, milestones, releases
from models.deals.deals import Deal
from models.deals.milestones import Milestone
from models.deals.releases import Release
from models.payouts import payouts
from models.restores import transfers
from pipelines.payouts import decisions
from pipelines.restores import listed_attempts


def pay_listed(transfer: RailTransfer, *, now: datetime) -> UUID:
    """Insert the forgotten payout of a milestone again; return its id.

    Raises Refused 409: milestone_differs, in_flight.
    """
    assert transfer.organization_id is not None
    assert transfer.milestone_id is not None  # a match without a payout that resumes has both
    milestone = milestones.find(organization_id=transfer.organization_id, milestone_id=transfer.milestone_id)
    assert milestone is not None
    deal = deals.lock(organization_id=transfer.organization_id, deal_id=milestone.deal_id)
    assert deal is not None
    due_cents = milestone.amount_cents if milestone.to_affiliate_cents is None else milestone.to_affiliate_cents
    return _pay(deal, milestone, transfer, cents=due_cents, now=now)


def pay_with_waiting(deal: Deal, milestone: Milestone, *, cents: int, now: datetime) -> bool:
    """Pay a milestone of a locked deal with the transfer that paid it before a restore; return whether there is one.

    Raises Refused 409 payouts_on_hold where the transfer paid another amount than `cents`.
    """
    waiting = transfers.lock_waiting(organization_id=deal.organization_id, milestone_id=milestone.id)
    if not waiting:
        return False
    row, *others = waiting
    try:
        _pay(deal, milestone, listed_attempts.transfer_from_row(row), cents=cents, now=now)
    except Refused as refusal:
        message = (
            "This milestone was paid before the service was restored from a backup, but with another amount or"
            f" currency. Your operator has to decide about the transfer {row.reference}."
        )
        raise Refused(409, "payouts_on_hold", message) from refusal
    transfers.stage_outcome(row, TransferOutcome.Resumed)
    for other in others:
        transfers.stage_outcome(other, TransferOutcome.Undecided, problem=Problem.milestone_paid)
    return True


def _pay(deal: Deal, milestone: Milestone, transfer: RailTransfer, *, cents: int, now: datetime) -> UUID:
    made_at = min(transfer.made_at, now)
    sums = transfer.natives or native_sums.usd_sums(transfer.amount_cents, on=made_at.date())
    if [(amount.currency, amount.native_cents) for amount in sums] != [(deal.currency, cents)]:
        raise Refused(409, Problem.milestone_differs, "The milestone has another amount here.")
    key = parse_key(transfer.key) if transfer.method != MANUAL else None
    if key is None and transfer.state != TransferState.paid:
        raise Refused(409, Problem.in_flight, "The payment is not settled yet.")
    release = Release(
        run_id=ids.new_id(),
        payout_id=key[0] if key else ids.new_id(),
        organization_id=deal.organization_id,
        milestone_id=milestone.id,
        program_id=deal.program_id,
        affiliate_id=deal.affiliate_id,
        amount_cents=transfer.amount_cents,
        native_amount_cents=cents,
        native_currency=deal.currency,
        fx_rate=sums[0].fx_rate,
        fx_rate_date=sums[0].fx_rate_date,
        method=transfer.method,
        destination=transfer.account or "",
        confirmed_by=None,
        review_status=None,
        hold_until=None,
        day=made_at.astimezone(UTC).date(),
        created_at=made_at,
    )
    releases.stage(release, filters={"dealId": str(deal.id), "milestoneId": str(milestone.id)})
    payout = payouts.lock(organization_id=deal.organization_id, payout_id=release.payout_id)
    assert payout is not None
    if key is None:
        decisions.pay_by_hand(payout, external_transaction_id=transfer.reference, now=now)
    else:
        listed_attempts.adopt(payout, transfer, made_at=made_at, now=now)
    return payout.id
