"""Release: a milestone's amount becomes a payout on its affiliate's usual rail, once.

A database constraint allows one payout per milestone that is not voided. It is booked, and its event emitted, when the
payout is Paid (`pipelines.payouts.transfer`). An Owner can retry a failed payout; a voided one is created again when
the milestone becomes due or is approved again.
Source: tracking spec, section 6, payout.created and milestone.released.
"""

from datetime import UTC, datetime
from uuid import UUID

import structlog

from domain import jobs
from domain.deals.states import MilestoneStatus
from domain.deals.steps import MilestoneStep
from domain.payouts import events, gates, plan
from domain.payouts.plan import BlockReason, Payee
from domain.payouts.states import ReviewStatus
from domain.refusals import Refused
from models import ids
from models.deals import milestones, releases
from models.deals.deals import Deal
from models.deals.milestones import Milestone
from models.deals.releases import Release
from models.organization import organizations
from models.payouts import candidates
from pipelines import restore_guard, work
from pipelines.deals import money, submission
from pipelines.payouts import funding, rails
from pipelines.restores import milestone_payments
from pipelines.webhooks import emit

#: Sorts before every milestone id.
FIRST = UUID(int=0)
_BATCH = 500

_log = structlog.get_logger(__name__)

_WHY = {
    BlockReason.affiliate_not_approved: "The affiliate is no longer Approved.",
    BlockReason.no_payout_account: "The affiliate has no payout account yet.",
    BlockReason.tax_form_required: "The affiliate has no tax form yet.",
}


def approve(deal: Deal, seq: int, *, approved_by: UUID | None, now: datetime) -> None:
    """Pay a submitted milestone of a deal that `money.lock_to_pay` has locked.

    Raises Refused: 404 not_found; 409 invalid_status_transition, affiliate_not_approved, no_payout_account,
    tax_form_required, fx_unavailable, nothing_to_pay, payouts_on_hold.
    """
    milestone = submission.find(deal, seq)
    submission.check_step(milestone, MilestoneStep.approve)
    pay(deal, milestone, cents=milestone.amount_cents, confirmed_by=approved_by, now=now)


def pay(deal: Deal, milestone: Milestone, *, cents: int, confirmed_by: UUID | None, now: datetime) -> None:
    """Create a payout of `cents` for a milestone that has none. Raises Refused 409 as `approve` does.

    If a payout lost in a restore has already paid it, that payout is used and no new one is created.
    """
    restore_guard.check_payouts_allowed()
    if milestone_payments.pay_with_waiting(deal, milestone, cents=cents, now=now):
        return
    organization = organizations.find(deal.organization_id)
    assert organization is not None
    payee = candidates.find_payees(organization_id=deal.organization_id, affiliate_ids=[deal.affiliate_id])[
        deal.affiliate_id
    ]
    _check_payee(payee, is_tax_form_required=organization.tax_form_required)
    rate = money.find_rate(deal.currency, now=now)
    usd_cents = money.to_usd_cents(cents=cents, currency=deal.currency, rate=rate)
    if usd_cents < 1:
        raise Refused(409, "nothing_to_pay", "The milestone is worth less than one US cent.")
    funding_state = funding.read_gate_facts(organization, now=now)
    assert payee.method is not None
    assert payee.destination is not None  # _check_payee has checked both
    release = Release(
        run_id=ids.new_id(),
        payout_id=ids.new_id(),
        organization_id=deal.organization_id,
        milestone_id=milestone.id,
        program_id=deal.program_id,
        affiliate_id=deal.affiliate_id,
        amount_cents=usd_cents,
        native_amount_cents=cents,
        native_currency=deal.currency,
        fx_rate=rate.per_usd,
        fx_rate_date=rate.on,
        method=payee.method,
        destination=payee.destination,
        confirmed_by=confirmed_by,
        review_status=ReviewStatus.Pending if funding_state.needs_review else None,
        hold_until=gates.hold_until(funding_state, now=now),
        day=now.astimezone(UTC).date(),
        created_at=now,
    )
    releases.stage(release, filters={"dealId": str(deal.id), "milestoneId": str(milestone.id)})
    _emit_created(release)
    if release.review_status is None:
        rails.enqueue_transfers(
            organization_id=deal.organization_id,
            method=release.method,
            payout_ids=[release.payout_id],
            run_at=release.hold_until,
        )


def any_org_start(*, after: UUID = FIRST, now: datetime) -> None:
    """Stage the release of the next due milestones, one job each, and the job for the rest."""
    due = milestones.any_org_list_due(after=after, now=now, limit=_BATCH)
    for milestone in due:
        work.enqueue(
            jobs.DEAL_RELEASE,
            organization_id=milestone.organization_id,
            deal_id=milestone.deal_id,
            milestone_id=milestone.id,
        )
    if len(due) == _BATCH:
        work.enqueue(jobs.DEALS_RELEASE, organization_id=None, after=due[-1].id)


def pay_if_due(*, organization_id: UUID, deal_id: UUID, milestone_id: UUID, now: datetime) -> bool:
    """Pay a milestone if it is still due; return whether a payout was created.

    While its affiliate cannot be paid it waits: the next tick tries again.
    """
    deal = money.lock_to_pay(organization_id=organization_id, deal_id=deal_id)
    milestone = milestones.find(organization_id=organization_id, milestone_id=milestone_id)
    if milestone is None or releases.find_payout(organization_id=organization_id, milestone_id=milestone_id):
        return False
    cents = _due_cents(milestone, now)
    if not cents:
        return False
    try:
        pay(deal, milestone, cents=cents, confirmed_by=None, now=now)
    except Refused as refusal:
        _log.warning("deal.release_waits", milestone=str(milestone_id), why=refusal.code)
        return False
    return True


def _due_cents(milestone: Milestone, now: datetime) -> int:
    if milestone.status == MilestoneStatus.Settled:
        return (milestone.to_affiliate_cents or 0) - milestone.paid_cents
    is_due = milestone.auto_release_at is not None and milestone.auto_release_at <= now
    return milestone.amount_cents if is_due else 0


def _check_payee(payee: Payee, *, is_tax_form_required: bool) -> None:
    checks = (
        (not payee.is_approved, BlockReason.affiliate_not_approved),
        (payee.method is None or payee.destination is None, BlockReason.no_payout_account),
        (is_tax_form_required and not payee.has_tax_form, BlockReason.tax_form_required),
    )
    blocked = next((reason for is_so, reason in checks if is_so), None)
    if blocked is not None:
        raise Refused(409, blocked, _WHY[blocked])


def _emit_created(release: Release) -> None:
    emit.event(
        organization_id=release.organization_id,
        type="payout.created",
        data=events.serialize_created(
            payout_id=release.payout_id,
            affiliate_id=release.affiliate_id,
            amount_cents=release.amount_cents,
            currency=plan.PAYOUT_CURRENCY,
            method=release.method,
            conversion_ids=[],
            period_start=release.day,
            period_end=release.day,
        ),
        at=release.created_at,
    )
