"""What people decide about payouts: retry, void, paid by hand, reviewed; and what a ban lets go of.

Source: core spec, "Payouts" (retry, review) and section 3; decisions about a payout that is on its way wait for it.
"""

from datetime import datetime
from uuid import UUID

from domain.payouts import events, gates, transfers
from domain.payouts.states import PayoutStatus, ReviewStatus
from domain.payouts.transfers import MANUAL, Answer, Paid, Rejected
from domain.refusals import Refused, not_found
from domain.restores.matching import NETTED
from models import advisory_locks
from models.deals import deals
from models.organization import organizations
from models.payouts import candidates, lines, payouts, rail_events, runs
from models.payouts.payouts import PaidPayout, Payout
from models.restores import advances
from pipelines.payouts import funding, rails, transfer
from pipelines.webhooks import emit


def lock(*, organization_id: UUID, payout_id: UUID) -> Payout:
    """Return a payout, locked after its deal or its conversions, or refuse with 404 not_found."""
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    advisory_locks.stage_payout_decision_lock(organization_id)
    deals.stage_lock_of_payouts(organization_id=organization_id, payout_ids=[payout_id])
    lines.stage_conversions_lock(organization_id=organization_id, payout_ids=[payout_id])
    payout = payouts.lock(organization_id=organization_id, payout_id=payout_id)
    if payout is None:
        raise not_found("payout", payout_id)
    return payout


def retry(payout: Payout, *, now: datetime) -> None:
    """Send a locked Failed payout again, under a new attempt, to where the affiliate wants to be paid now.

    Raises Refused 409: invalid_status_transition, payout_voided, review_rejected, rail_says_paid, paid_before_restore,
    nothing_left_to_pay, affiliate_not_approved, no_payout_account, and the gates' codes.
    """
    _only(payout, PayoutStatus.Failed)
    _check_reviewed(payout)
    _check_not_paid(payout)
    _check_not_netted(payout)
    if payout.amount_cents <= 0:
        message = "Everything that this payout was to pay was taken back; void it, and what is left is netted later."
        raise Refused(409, transfer.NOTHING_LEFT, message)
    organization = organizations.find(payout.organization_id)
    assert organization is not None
    # What a milestone is paid was counted when its deal was charged.
    counted_cents = payout.amount_cents if payout.milestone_id is None else 0
    gates.check(funding.standing(organization, now=now), total_cents=counted_cents)
    payee = candidates.payees(organization_id=payout.organization_id, affiliate_ids=[payout.affiliate_id])[
        payout.affiliate_id
    ]
    if not payee.is_approved:
        raise Refused(409, "affiliate_not_approved", "The affiliate is not Approved any more; void the payout instead.")
    if payee.method is None or payee.destination is None:
        raise Refused(409, "no_payout_account", "The affiliate has said nowhere to be paid.")
    payouts.stage_change(
        payout,
        status=PayoutStatus.Pending,
        attempt=payout.attempt + 1,
        method=payee.method,
        destination=payee.destination,
        submitted_at=None,
        failed_at=None,
        failure_code=None,
        failure_reason=None,
        **{column: None for column in payouts.REFERENCE_COLUMNS.values() if column != "external_transaction_id"},
    )
    _announce_again(payout, payee.method, now)
    rails.enqueue_transfers(organization_id=payout.organization_id, method=payee.method, payout_ids=[payout.id])


def void(payout: Payout, *, now: datetime) -> None:
    """Let go of what a locked payout was to pay: it is due again.

    Takes a payout that Failed, or that was listed to be paid by hand and was not, which fails with it. Raises Refused
    409: invalid_status_transition, payout_voided, rail_says_paid.
    """
    is_listed = payout.status == PayoutStatus.Pending and payout.exported_at is not None
    _only(payout, PayoutStatus.Pending if is_listed else PayoutStatus.Failed)
    _check_not_paid(payout)
    if is_listed:
        transfer.fail(payout, code="voided", reason="It was not paid by hand, and voided.", now=now)
    _let_go(payout, now)


def let_go_to_net(payout: Payout, *, now: datetime) -> None:
    """Let go of a locked payout that is not on its way: what it was to pay is netted with what was paid before."""
    if payout.status == PayoutStatus.Pending:
        reason = "Its affiliate was paid before the service was restored; the next run pays what is left."
        transfer.fail(payout, code=NETTED, reason=reason, now=now)
    _let_go(payout, now)


def pay_by_hand(payout: Payout, *, external_transaction_id: str, now: datetime) -> None:
    """Record that the brand itself has paid a locked payout that no rail is at work on.

    Raises Refused 409: invalid_status_transition (Processing, Paid), payout_voided, review_pending, review_rejected,
    nothing_left_to_pay.
    """
    _only(payout, PayoutStatus.Pending, PayoutStatus.Failed)
    _check_reviewed(payout)
    if payout.amount_cents <= 0:
        raise Refused(409, transfer.NOTHING_LEFT, "This payout has nothing left to pay.")
    rail_events.stage_settled(organization_id=payout.organization_id, payout_id=payout.id)
    references = {"externalTransactionId": external_transaction_id}
    transfer.mark_paid([PaidPayout(payout, MANUAL, references)], now=now)


def settle_by_hand(payout: Payout, *, paid_as: str | None, failed_because: str | None, now: datetime) -> str:
    """Settle a locked payout whose rail never said what became of it, by what an operator found out; return its status.

    `paid_as` is what the rail calls the payment; else it was not carried out and never will be under its key.
    One that is not Processing is freed by the latter alone, where its rail says that it paid it after all.
    Raises Refused 409 invalid_status_transition for every other that is not Processing.
    """
    where = {"organization_id": payout.organization_id, "payout_id": payout.id}
    if payout.status != PayoutStatus.Processing and failed_because and rail_events.says_paid(**where):
        rail_events.stage_settled(**where)
        return payout.status
    if payout.status != PayoutStatus.Processing:
        message = f"The payout is {payout.status}; only a Processing payout waits for its rail."
        raise Refused(409, "invalid_status_transition", message)
    answer: Answer
    if paid_as is not None:
        names = transfers.REFERENCES[transfers.Method(payout.method)]
        answer = Paid(dict.fromkeys(names, paid_as) | payout.references)
    else:
        answer = Rejected("settled_by_operator", failed_because or "The operator found that the rail did not pay it.")
    transfer.settle(payout, payout.attempt, answer, now=now)
    return PayoutStatus.Paid if paid_as is not None else PayoutStatus.Failed


def ban(*, organization_id: UUID, affiliate_id: UUID, now: datetime) -> int:
    """Let go of a banned affiliate's payouts that were not sent or listed yet; returns how many."""
    # A run or a release at work may be about to pay them: what it makes is seen after it.
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    advisory_locks.stage_payout_decision_lock(organization_id)
    released = 0
    for payout_id in payouts.pending_of_affiliate(organization_id=organization_id, affiliate_id=affiliate_id):
        payout = lock(organization_id=organization_id, payout_id=payout_id)
        if payout.status == PayoutStatus.Pending and payout.exported_at is None:
            transfer.fail(payout, code="affiliate_banned", reason="The affiliate was banned.", now=now)
            _let_go(payout, now)
            released += 1
    return released


def decide_review(*, organization_id: UUID, run_id: UUID, is_approved: bool, now: datetime) -> list[UUID]:
    """Let the payouts of a reviewed run go, or fail them; returns those that it concerned. For the operator.

    Raises Refused 409 invalid_status_transition when the run is not waiting for a review.
    """
    if not runs.close_review(organization_id=organization_id, run_id=run_id, is_approved=is_approved):
        raise Refused(409, "invalid_status_transition", "This run is not waiting for a review.")
    found = payouts.pending_of_run(organization_id=organization_id, run_id=run_id)
    for payout_id in found:
        # Not its conversions: nothing about their lines changes, and nobody may lock those of several affiliates.
        payout = payouts.lock(organization_id=organization_id, payout_id=payout_id)
        if payout is None or payout.status != PayoutStatus.Pending:
            continue  # paid by hand or let go of meanwhile
        if is_approved:
            rails.enqueue_transfers(
                organization_id=organization_id,
                method=payout.method,
                payout_ids=[payout_id],
                run_at=payout.hold_until,
            )
        else:
            transfer.fail(payout, code="review_rejected", reason="A reviewer rejected the run.", now=now)
    return found


def _let_go(payout: Payout, now: datetime) -> None:
    lines.stage_release(organization_id=payout.organization_id, payout_id=payout.id, at=now)
    payouts.stage_change(payout, voided_at=now)


def _only(payout: Payout, *statuses: PayoutStatus) -> None:
    if payout.voided_at is not None:
        raise Refused(409, "payout_voided", "This payout was voided; what it was to pay is due again in the next run.")
    if payout.status not in statuses:
        message = f"The payout is {payout.status}; this needs {' or '.join(statuses)}."
        raise Refused(409, "invalid_status_transition", message)


def _check_reviewed(payout: Payout) -> None:
    if payout.review_status == ReviewStatus.Pending:
        raise Refused(409, "review_pending", "An operator has not looked at this payout's run yet.")
    if payout.review_status == ReviewStatus.Rejected:
        raise Refused(409, "review_rejected", "An operator rejected this payout's run; void it.")


def _check_not_paid(payout: Payout) -> None:
    if rail_events.says_paid(organization_id=payout.organization_id, payout_id=payout.id):
        message = "The rail says that it paid this payout after all: mark it as paid, or ask your operator to look."
        raise Refused(409, "rail_says_paid", message)


def _check_not_netted(payout: Payout) -> None:
    if payout.milestone_id is None and advances.outstanding(
        organization_id=payout.organization_id, affiliate_ids=[payout.affiliate_id]
    ):
        message = (
            "This affiliate was paid before the service was restored, and that is not netted yet. Void this payout"
            " instead: the next run pays what is left."
        )
        raise Refused(409, NETTED, message)


def _announce_again(payout: Payout, method: str, now: datetime) -> None:
    paying = lines.of_payout(organization_id=payout.organization_id, payout_id=payout.id)
    emit.event(
        organization_id=payout.organization_id,
        type="payout.created",
        data=events.serialize_created(
            payout_id=payout.id,
            affiliate_id=payout.affiliate_id,
            amount_cents=payout.amount_cents,
            currency=payout.currency,
            method=method,
            conversion_ids=[line.conversion_id for line in paying if line.is_open],
            period_start=payout.period_start,
            period_end=payout.period_end,
        ),
        at=now,
    )
