"""Decisions about payouts: retry, void, paid by hand, review; and voiding the payouts of a banned affiliate.

Source: core spec, "Payouts" (retry, review) and section 3; decisions about a payout that is being sent wait for it.
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
    """Lock and return a payout, after its deal or its conversions. Raises Refused 404 not_found."""
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    advisory_locks.stage_payout_decision_lock(organization_id)
    deals.stage_lock_of_payouts(organization_id=organization_id, payout_ids=[payout_id])
    lines.stage_conversions_lock(organization_id=organization_id, payout_ids=[payout_id])
    payout = payouts.lock(organization_id=organization_id, payout_id=payout_id)
    if payout is None:
        raise not_found("payout", payout_id)
    return payout


def retry(payout: Payout, *, now: datetime) -> None:
    """Send a locked Failed payout again, as a new attempt, to the affiliate's current payout account.

    Raises Refused 409: invalid_status_transition, payout_voided, review_rejected, rail_says_paid, paid_before_restore,
    nothing_left_to_pay, affiliate_not_approved, no_payout_account, and the gates' codes.
    """
    _check_status(payout, PayoutStatus.Failed)
    _check_reviewed(payout)
    _check_not_paid(payout)
    _check_not_netted(payout)
    if payout.amount_cents <= 0:
        message = "All commissions in this payout were reversed. Void it; the rest is offset in a later payout."
        raise Refused(409, transfer.NOTHING_LEFT, message)
    organization = organizations.find(payout.organization_id)
    assert organization is not None
    # The amount of a milestone was counted when its deal was charged.
    counted_cents = payout.amount_cents if payout.milestone_id is None else 0
    gates.check(funding.read_gate_facts(organization, now=now), total_cents=counted_cents)
    payee = candidates.find_payees(organization_id=payout.organization_id, affiliate_ids=[payout.affiliate_id])[
        payout.affiliate_id
    ]
    if not payee.is_approved:
        raise Refused(409, "affiliate_not_approved", "The affiliate is not Approved any more; void the payout instead.")
    if payee.method is None or payee.destination is None:
        raise Refused(409, "no_payout_account", "The affiliate has no payout account.")
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
    _emit_created(payout, payee.method, now)
    rails.enqueue_transfers(organization_id=payout.organization_id, method=payee.method, payout_ids=[payout.id])


def void(payout: Payout, *, now: datetime) -> None:
    """Void a locked payout: its conversions are due again.

    It has Failed, or was listed to be paid by hand and was not, and fails now. Raises Refused 409:
    invalid_status_transition, payout_voided, rail_says_paid.
    """
    is_listed = payout.status == PayoutStatus.Pending and payout.exported_at is not None
    _check_status(payout, PayoutStatus.Pending if is_listed else PayoutStatus.Failed)
    _check_not_paid(payout)
    if is_listed:
        transfer.fail(payout, code="voided", reason="It was not paid by hand, and voided.", now=now)
    _stage_void(payout, now)


def void_to_net(payout: Payout, *, now: datetime) -> None:
    """Void a locked payout that is not being sent: its amount is netted with what was paid before."""
    if payout.status == PayoutStatus.Pending:
        reason = "Its affiliate was paid before the service was restored; the next run pays what is left."
        transfer.fail(payout, code=NETTED, reason=reason, now=now)
    _stage_void(payout, now)


def pay_by_hand(payout: Payout, *, external_transaction_id: str, now: datetime) -> None:
    """Mark a locked payout that no rail is sending as paid by the brand itself.

    Raises Refused 409: invalid_status_transition (Processing, Paid), payout_voided, review_pending, review_rejected,
    nothing_left_to_pay.
    """
    _check_status(payout, PayoutStatus.Pending, PayoutStatus.Failed)
    _check_reviewed(payout)
    if payout.amount_cents <= 0:
        raise Refused(409, transfer.NOTHING_LEFT, "This payout has nothing left to pay.")
    rail_events.stage_settled(organization_id=payout.organization_id, payout_id=payout.id)
    references = {"externalTransactionId": external_transaction_id}
    transfer.mark_paid([PaidPayout(payout, MANUAL, references)], now=now)


def settle_by_hand(payout: Payout, *, paid_as: str | None, failed_because: str | None, now: datetime) -> str:
    """Settle a locked payout whose rail never reported its outcome, as an operator decides; return its status.

    `paid_as` is the rail's reference of the payment; without it, the payment was not made and never will be under its
    key. A payout that is not Processing but paid according to its rail can only be settled as not paid, which dismisses
    the rail's report. Raises Refused 409 invalid_status_transition for every other that is not Processing.
    """
    where = {"organization_id": payout.organization_id, "payout_id": payout.id}
    if payout.status != PayoutStatus.Processing and failed_because and rail_events.has_paid_event(**where):
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
        answer = Rejected(
            "settled_by_operator", failed_because or "The operator found that the payout provider did not pay it."
        )
    transfer.settle(payout, payout.attempt, answer, now=now)
    return PayoutStatus.Paid if paid_as is not None else PayoutStatus.Failed


def void_of_affiliate(*, organization_id: UUID, affiliate_id: UUID, now: datetime) -> int:
    """Void a banned affiliate's payouts that were not sent or listed yet; return how many."""
    # A run or a release in progress may be about to pay them: its payouts are visible after it.
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    advisory_locks.stage_payout_decision_lock(organization_id)
    released = 0
    for payout_id in payouts.list_pending_of_affiliate(organization_id=organization_id, affiliate_id=affiliate_id):
        payout = lock(organization_id=organization_id, payout_id=payout_id)
        if payout.status == PayoutStatus.Pending and payout.exported_at is None:
            transfer.fail(payout, code="affiliate_banned", reason="The affiliate was banned.", now=now)
            _stage_void(payout, now)
            released += 1
    return released


def decide_review(*, organization_id: UUID, run_id: UUID, is_approved: bool, now: datetime) -> list[UUID]:
    """Send the payouts of a reviewed run, or fail them; return their ids. For the operator.

    Raises Refused 409 invalid_status_transition when the run is not waiting for a review.
    """
    if not runs.close_review(organization_id=organization_id, run_id=run_id, is_approved=is_approved):
        raise Refused(409, "invalid_status_transition", "This run is not waiting for a review.")
    payout_ids = payouts.list_pending_of_run(organization_id=organization_id, run_id=run_id)
    for payout_id in payout_ids:
        # Not its conversions: their lines do not change, and no one may lock conversions of several affiliates.
        payout = payouts.lock(organization_id=organization_id, payout_id=payout_id)
        if payout is None or payout.status != PayoutStatus.Pending:
            continue  # paid by hand or voided in the meantime
        if is_approved:
            rails.enqueue_transfers(
                organization_id=organization_id,
                method=payout.method,
                payout_ids=[payout_id],
                run_at=payout.hold_until,
            )
        else:
            transfer.fail(payout, code="review_rejected", reason="A reviewer rejected the run.", now=now)
    return payout_ids


def _stage_void(payout: Payout, now: datetime) -> None:
    lines.stage_release(organization_id=payout.organization_id, payout_id=payout.id, at=now)
    payouts.stage_change(payout, voided_at=now)


def _check_status(payout: Payout, *statuses: PayoutStatus) -> None:
    if payout.voided_at is not None:
        raise Refused(409, "payout_voided", "This payout was voided. Its amount is due again in the next run.")
    if payout.status not in statuses:
        message = f"The payout is {payout.status}. It has to be {' or '.join(statuses)}."
        raise Refused(409, "invalid_status_transition", message)


def _check_reviewed(payout: Payout) -> None:
    if payout.review_status == ReviewStatus.Pending:
        raise Refused(409, "review_pending", "This payout's run waits for an operator's review.")
    if payout.review_status == ReviewStatus.Rejected:
        raise Refused(409, "review_rejected", "An operator rejected this payout's run. Void the payout.")


def _check_not_paid(payout: Payout) -> None:
    if rail_events.has_paid_event(organization_id=payout.organization_id, payout_id=payout.id):
        message = (
            "The payout provider reports that this payout was paid. Mark it as paid, or ask your operator to check."
        )
        raise Refused(409, "rail_says_paid", message)


def _check_not_netted(payout: Payout) -> None:
    if payout.milestone_id is None and advances.filter_outstanding(
        organization_id=payout.organization_id, affiliate_ids=[payout.affiliate_id]
    ):
        message = (
            "This affiliate was paid before the service was restored, and that payment is not netted yet. Void this"
            " payout instead: the next run pays what is left."
        )
        raise Refused(409, NETTED, message)


def _emit_created(payout: Payout, method: str, now: datetime) -> None:
    payout_lines = lines.list_of_payout(organization_id=payout.organization_id, payout_id=payout.id)
    emit.event(
        organization_id=payout.organization_id,
        type="payout.created",
        data=events.serialize_created(
            payout_id=payout.id,
            affiliate_id=payout.affiliate_id,
            amount_cents=payout.amount_cents,
            currency=payout.currency,
            method=method,
            conversion_ids=[line.conversion_id for line in payout_lines if line.is_open],
            period_start=payout.period_start,
            period_end=payout.period_end,
        ),
        at=now,
    )
