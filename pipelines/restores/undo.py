"""Undoes the booking of a transfer: the booked amount is due again in full."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from domain.money import currencies
from domain.payouts.states import AttemptState, PayoutStatus
from domain.refusals import Refused
from domain.restores.transfers import Problem, TransferOutcome, TransferState
from models.payouts import attempts, payouts
from models.payouts.payouts import Payout
from models.restores import bookings, transfers
from models.restores.bookings import BookedSum
from models.restores.transfers import RestoredTransfer
from pipelines.payouts import decisions, transfer


def any_org_undo(reference: str, *, why: str, now: datetime) -> RestoredTransfer:
    """Undo the booking of a transfer; a transfer that was not returned waits to be assigned again.

    Its payout fails and is voided. Raises Refused: 404 not_found; 409 not_booked, netted.
    """
    row = _find_booked(reference)
    assert row.organization_id is not None
    assert row.booked_payout_id is not None  # it is booked
    # In the lock order of every decision: the payout's advisory locks and rows, then the transfer.
    payout = decisions.lock(organization_id=row.organization_id, payout_id=row.booked_payout_id)
    row = _find_booked(reference, is_locked=True)
    if row.booked_payout_id != payout.id or payout.status != PayoutStatus.Paid:
        raise Refused(409, "not_booked", f"{reference} was just changed by another command. Check it again.")
    sums = bookings.list_sums(payout)
    if any(amount.is_netted for amount in sums):
        raise Refused(409, "netted", _netted_message(row, payout, sums))
    is_returned = row.state == TransferState.returned
    bookings.stage_reversal(payout, at=now)
    _stage_failure(payout, Problem.came_back if is_returned else Problem.booking_undone, why=why, now=now)
    outcome = TransferOutcome.MovedNothing if is_returned else TransferOutcome.Undecided
    problem = None if is_returned else Problem.booking_undone
    transfers.stage_undone(row, outcome, problem=problem, why=why)
    return row


def _find_booked(reference: str, *, is_locked: bool = False) -> RestoredTransfer:
    rows = transfers.any_org_find_by_reference(reference, is_locked=is_locked)
    if not rows:
        raise Refused(404, "not_found", f"No list contained a transfer {reference}.")
    booked_row = next((row for row in rows if row.booked_payout_id is not None), None)
    if booked_row is None:
        raise Refused(409, "not_booked", f"Nothing is booked for {reference}: it is {rows[0].outcome}.")
    return booked_row


def _netted_message(row: RestoredTransfer, payout: Payout, sums: Sequence[BookedSum]) -> str:
    amounts = " and ".join(
        f"{Decimal(amount.cents).scaleb(-currencies.exponent(amount.currency))} {amount.currency}" for amount in sums
    )
    return (
        f"Later payouts of affiliate {payout.affiliate_id} hold back what {row.reference} paid, so the booking stays."
        f" Next: ask the Owner to add a bonus of {amounts} for that affiliate, which the next run pays, then"
        f" flask restore accept {row.reference}"
    )


def _stage_failure(payout: Payout, code: str, *, why: str, now: datetime) -> None:
    attempts.stage_answer(
        [payout], state=AttemptState.rejected, detail=f"booked after a restore, undone: {why}", at=now
    )
    payouts.stage_change(
        payout, status=PayoutStatus.Failed, paid_at=None, failed_at=now, failure_reason=why, voided_at=now
    )
    transfer.fail(payout, code=code, reason=why, now=now)
