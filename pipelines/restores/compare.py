"""Compares a rail's transfers with the books, each in a transaction of its own, and does what follows.

A transfer has one row, locked first: a comparison that was killed is done again from its list, two at once wait for
each other, and what was booked is never booked again.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from domain.payouts import destinations, native_sums
from domain.payouts.native_sums import NativeSum
from domain.refusals import Refused, not_found
from domain.restores import matching
from domain.restores.matching import KnownPayout, Match, MatchingFacts
from domain.restores.transfers import ADVICE, Problem, RailTransfer, TransferOutcome, TransferState
from models import advisory_locks
from models.restores import facts, transfers
from models.restores.transfers import RestoredTransfer
from pipelines.restores import book

_OPEN = (TransferOutcome.Undecided, TransferOutcome.Waiting)


@dataclass(frozen=True, slots=True)
class Compared:
    """What a transfer is here. `is_new`: this comparison booked it, or found the problem."""

    outcome: TransferOutcome
    problem: str | None
    is_new: bool


def any_org_preview(transfer: RailTransfer, *, since: datetime) -> Match:
    """Return what comparing a transfer would do, apart from what was decided about it before. Writes nothing."""
    _, _, match = _matched(transfer, since)
    return match


def any_org_compare(transfer: RailTransfer, *, since: datetime, now: datetime) -> Compared:
    """Compare a transfer and do what follows; once, however often it is compared.

    `since` is the earliest time at which a forgotten one can have been made.
    """
    transfer, known, match = _matched(transfer, since)
    organization_id = transfer.organization_id if known.has_organization else None
    if organization_id is not None:
        advisory_locks.stage_shared_payout_run_lock(organization_id)
        advisory_locks.stage_payout_decision_lock(organization_id)
    masked = destinations.mask(transfer.account) if transfer.account else None
    row = transfers.lock(transfer, organization_id=organization_id, account=masked)
    if _is_decided(row, transfer):
        return _compare_again(row, transfer)
    transfers.stage_facts(row, transfer, organization_id=organization_id, account=masked)
    transfer, known, match = _matched(transfer, since)  # as it is under the locks
    try:
        booked_id = book.any_org_carry_out(transfer, known.payout, match, now=now)
    except Refused as refusal:
        return _stage_open(row, refusal.code)
    if match.problem is not None:
        return _stage_open(row, match.problem)
    transfers.stage_outcome(
        row,
        match.outcome,
        affiliate_id=match.affiliate_id,
        booked_payout_id=booked_id,
    )
    is_new = row.outcome != match.outcome and match.outcome in (TransferOutcome.Booked, TransferOutcome.Resumed)
    return Compared(match.outcome, None, is_new)


def any_org_assign(
    reference: str, *, affiliate_id: UUID, sums: tuple[NativeSum, ...], why: str, now: datetime
) -> RestoredTransfer:
    """Book an open transfer as paid to an affiliate, as an operator says.

    Raises Refused: 404 not_found, 409 not_open, payout_processing, milestone_paid, organization_differs.
    """
    organization_id = book.any_org_organization_of(affiliate_id)
    if organization_id is None:
        raise not_found("affiliate", affiliate_id)
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    advisory_locks.stage_payout_decision_lock(organization_id)
    row = any_org_open_row(reference)
    if row.booked_payout_id is not None:
        raise Refused(409, "not_open", f"{reference} is booked already: undo the booking, or accept it as it is.")
    _check_organization(row, organization_id)
    booked_id = book.any_org_assign(row, organization_id=organization_id, affiliate_id=affiliate_id, sums=sums, now=now)
    transfers.stage_outcome(
        row,
        TransferOutcome.Booked,
        problem=row.problem,
        organization_id=organization_id,
        affiliate_id=affiliate_id,
        booked_payout_id=booked_id,
        why=why,
    )
    return replace(row, organization_id=organization_id, affiliate_id=affiliate_id, booked_payout_id=booked_id)


def _check_organization(row: RestoredTransfer, organization_id: UUID) -> None:
    """Raise Refused 409 where a transfer was sent for another organization than an affiliate's."""
    payout = facts.any_org_find_payout(row.payout_id)
    owners = [row.organization_id, payout.organization_id if payout else None]
    named = [owner for owner in owners if owner is not None]
    if named and organization_id not in named:
        message = f"{row.reference} was paid for organization {named[0]}, and that affiliate is another's."
        raise Refused(409, Problem.organization_differs, message)


def any_org_accept(reference: str, *, why: str) -> RestoredTransfer:
    """Let an open transfer be as it is. Raises Refused: 404 not_found, 409 not_open."""
    row = any_org_open_row(reference)
    transfers.stage_outcome(row, TransferOutcome.LeftOut, problem=row.problem, why=why)
    return row


def any_org_open_row(reference: str, *, is_locked: bool = True) -> RestoredTransfer:
    """Return the open transfer that its rail calls so. Raises Refused: 404 not_found, 409 not_open."""
    rows = transfers.any_org_find_by_reference(reference, is_locked=is_locked)
    if not rows:
        raise Refused(404, "not_found", f"No list had a transfer {reference}.")
    row = next((one for one in rows if one.outcome in _OPEN), None)
    if row is None:
        message = f"{reference} is {rows[0].outcome}; nothing is to be decided about it."
        if rows[0].booked_payout_id is not None:
            message += f" If it was booked wrongly: flask restore undo {reference}"
        raise Refused(409, "not_open", message)
    return row


def advice(problem: str) -> str:
    """Return what a problem means and what to do about it."""
    known: Collection[str] = list(Problem)
    return (
        ADVICE[Problem(problem)] if problem in known else f"its payout here refuses it ({problem}): flask payout show"
    )


def _matched(transfer: RailTransfer, since: datetime) -> tuple[RailTransfer, MatchingFacts, Match]:
    payout = facts.any_org_find_payout(transfer.payout_id)
    if transfer.organization_id is None:
        transfer = replace(transfer, organization_id=_organization(transfer, payout))
    known = facts.any_org_find_facts(transfer, payout)
    return transfer, known, matching.match(transfer, known, since=since)


def _organization(transfer: RailTransfer, payout: KnownPayout | None) -> UUID | None:
    """Return the organization of a transfer that names none: of its payout, its affiliate, or its account alone."""
    if payout is not None:
        return payout.organization_id
    if transfer.affiliate_id is not None:
        return book.any_org_organization_of(transfer.affiliate_id)
    if transfer.account is None:
        return None
    paying = facts.any_org_list_organizations_paying(method=transfer.method, account=transfer.account)
    return paying[0] if len(paying) == 1 else None


def _is_decided(row: RestoredTransfer, transfer: RailTransfer) -> bool:
    """Return whether something was booked for a transfer, or an operator has decided that nothing is to be.

    What was decided while it was on its way does not hold once it is paid.
    """
    if row.booked_payout_id is not None:
        return True
    if row.problem == Problem.booking_undone:
        return transfer.state != TransferState.returned and _is_as_listed(row, transfer)
    is_settled_since = row.problem == Problem.in_flight and transfer.state == TransferState.paid
    return row.outcome == TransferOutcome.LeftOut and not is_settled_since


def _compare_again(row: RestoredTransfer, transfer: RailTransfer) -> Compared:
    """Return what a transfer is that was decided before; reopen what is booked and not as it was booked."""
    problem = _problem_of_booking(row, transfer) if row.booked_payout_id is not None else None
    if problem is None and row.outcome == TransferOutcome.Undecided:
        return _stage_open(row, row.problem or Problem.booking_undone)
    if problem is None or (row.outcome == TransferOutcome.LeftOut and row.problem == problem):
        return Compared(TransferOutcome(row.outcome), None, is_new=False)
    return _stage_open(row, problem)


def _problem_of_booking(row: RestoredTransfer, transfer: RailTransfer) -> Problem | None:
    if transfer.state == TransferState.returned:
        return Problem.came_back
    if transfer.returned_cents and row.problem != Problem.partly_returned:
        return Problem.partly_returned
    return None if _is_as_listed(row, transfer) else Problem.booked_otherwise


def _is_as_listed(row: RestoredTransfer, transfer: RailTransfer) -> bool:
    native = native_sums.to_text(transfer.natives) if transfer.natives else None
    is_same_native = row.native in (None, native)
    listed = (transfer.amount_cents, transfer.currency, transfer.milestone_id)
    return is_same_native and (row.amount_cents, row.currency, row.milestone_id) == listed


def _stage_open(row: RestoredTransfer, problem: str) -> Compared:
    transfers.stage_outcome(row, TransferOutcome.Undecided, problem=problem)
    return Compared(TransferOutcome.Undecided, problem, is_new=row.problem != problem)
