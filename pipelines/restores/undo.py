"""Takes back the booking of a transfer: what it was booked to pay is due again, in full."""

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
    """Take back what was booked for a transfer; one that did not come back waits to be assigned again.

    Its payout has failed and is voided. Raises Refused: 404 not_found; 409 not_booked, netted.
    """
    row = _booked_row(reference)
    assert row.organization_id is not None
    assert row.booked_payout_id is not None  # it is booked
    # In the order of every decision: the payout's advisory locks and rows, then the transfer.
    payout = decisions.lock(organization_id=row.organization_id, payout_id=row.booked_payout_id)
    row = _booked_row(reference, is_locked=True)
    if row.booked_payout_id != payout.id or payout.status != PayoutStatus.Paid:
        raise Refused(409, "not_booked", f"{reference} was changed by another command just now; look again.")
    sums = bookings.list_sums(payout)
    if any(one.is_netted for one in sums):
        raise Refused(409, "netted", _netted(row, payout, sums))
    came_back = row.state == TransferState.returned
    bookings.stage_reversal(payout, at=now)
    _stage_failed(payout, Problem.came_back if came_back else Problem.booking_undone, why=why, now=now)
    outcome = TransferOutcome.MovedNothing if came_back else TransferOutcome.Undecided
    problem = None if came_back else Problem.booking_undone
    transfers.stage_undone(row, outcome, problem=problem, why=why)
    return row


def _booked_row(reference: str, *, is_locked: bool = False) -> RestoredTransfer:
    rows = transfers.any_org_find_by_reference(reference, is_locked=is_locked)
    if not rows:
        raise Refused(404, "not_found", f"No list had a transfer {reference}.")
    row = next((one for one in rows if one.booked_payout_id is not None), None)
    if row is None:
        raise Refused(409, "not_booked", f"Nothing is booked for {reference}: it is {rows[0].outcome}.")
    return row


def _netted(row: RestoredTransfer, payout: Payout, sums: Sequence[BookedSum]) -> str:
    amounts = " and ".join(
        f"{Decimal(one.cents).scaleb(-currencies.exponent(one.currency))} {one.currency}" for one in sums
    )
    return (
        f"Later payouts of affiliate {payout.affiliate_id} hold back what {row.reference} paid, so the booking stays."
        f" Next: have the Owner add a bonus of {amounts} to that affiliate, which the next run pays, then"
        f" flask restore accept {row.reference}"
    )


def _stage_failed(payout: Payout, code: str, *, why: str, now: datetime) -> None:
    attempts.stage_answer(
        [payout], state=AttemptState.rejected, detail=f"booked after a restore, undone: {why}", at=now
    )
    payouts.stage_change(
        payout, status=PayoutStatus.Failed, paid_at=None, failed_at=now, failure_reason=why, voided_at=now
    )
    transfer.fail(payout, code=code, reason=why, now=now)
