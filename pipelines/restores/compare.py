"""Compares a rail's transfers with the books, each in a transaction of its own, and acts on the result.

A transfer has one row, locked first: a comparison that was killed is repeated from its list, two concurrent ones wait
for each other, and a booked transfer is never booked again.
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
from pipelines.restores import forgotten_payouts

_OPEN = (TransferOutcome.Undecided, TransferOutcome.Waiting)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of comparing a transfer. `is_new`: this comparison booked it, or found the problem."""

    outcome: TransferOutcome
    problem: str | None
    is_new: bool


def any_org_preview(transfer: RailTransfer, *, since: datetime) -> Match:
    """Return what comparing a transfer would do, ignoring earlier decisions about it. Writes nothing."""
    _, _, match = _match(transfer, since)
    return match


def any_org_compare(transfer: RailTransfer, *, since: datetime, now: datetime) -> Comparison:
    """Compare a transfer and act on the result; once, however often it is compared.

    `since` is the earliest time of a forgotten transfer.
    """
    transfer, stored, match = _match(transfer, since)
    organization_id = transfer.organization_id if stored.has_organization else None
    if organization_id is not None:
        advisory_locks.stage_shared_payout_run_lock(organization_id)
        advisory_locks.stage_payout_decision_lock(organization_id)
    masked_account = destinations.mask(transfer.account) if transfer.account else None
    row = transfers.lock(transfer, organization_id=organization_id, account=masked_account)
    if _is_decided(row, transfer):
        return _compare_again(row, transfer)
    transfers.stage_facts(row, transfer, organization_id=organization_id, account=masked_account)
    transfer, stored, match = _match(transfer, since)  # again, under the locks
    try:
        booked_id = forgotten_payouts.any_org_carry_out(transfer, stored.payout, match, now=now)
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
    return Comparison(match.outcome, None, is_new)


def any_org_assign(
    reference: str, *, affiliate_id: UUID, sums: tuple[NativeSum, ...], why: str, now: datetime
) -> RestoredTransfer:
    """Book an open transfer as paid to an affiliate, as an operator decides.

    Raises Refused: 404 not_found, 409 not_open, payout_processing, milestone_paid, organization_differs.
    """
    organization_id = forgotten_payouts.any_org_find_organization(affiliate_id)
    if organization_id is None:
        raise not_found("affiliate", affiliate_id)
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    advisory_locks.stage_payout_decision_lock(organization_id)
    row = any_org_find_open(reference)
    if row.booked_payout_id is not None:
        raise Refused(409, "not_open", f"{reference} is booked already. Undo the booking, or accept it.")
    _check_organization(row, organization_id)
    booked_id = forgotten_payouts.any_org_assign(
        row, organization_id=organization_id, affiliate_id=affiliate_id, sums=sums, now=now
    )
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
    owner_ids = [owner for owner in owners if owner is not None]
    if owner_ids and organization_id not in owner_ids:
        message = f"{row.reference} was paid for organization {owner_ids[0]}, and the affiliate belongs to another one."
        raise Refused(409, Problem.organization_differs, message)


def any_org_accept(reference: str, *, why: str) -> RestoredTransfer:
    """Accept an open transfer without booking it. Raises Refused: 404 not_found, 409 not_open."""
    row = any_org_find_open(reference)
    transfers.stage_outcome(row, TransferOutcome.LeftOut, problem=row.problem, why=why)
    return row


def any_org_find_open(reference: str, *, is_locked: bool = True) -> RestoredTransfer:
    """Return the open transfer with a rail's reference. Raises Refused: 404 not_found, 409 not_open."""
    rows = transfers.any_org_find_by_reference(reference, is_locked=is_locked)
    if not rows:
        raise Refused(404, "not_found", f"No list contained a transfer {reference}.")
    open_row = next((row for row in rows if row.outcome in _OPEN), None)
    if open_row is None:
        message = f"{reference} is {rows[0].outcome} and needs no decision."
        if rows[0].booked_payout_id is not None:
            message += f" If the booking is wrong: flask restore undo {reference}"
        raise Refused(409, "not_open", message)
    return open_row


def describe_problem(problem: str) -> str:
    """Return what a problem means and what to do about it."""
    problems: Collection[str] = list(Problem)
    return ADVICE[Problem(problem)] if problem in problems else f"its payout refuses it ({problem}): flask payout show"


def _match(transfer: RailTransfer, since: datetime) -> tuple[RailTransfer, MatchingFacts, Match]:
    payout = facts.any_org_find_payout(transfer.payout_id)
    if transfer.organization_id is None:
        transfer = replace(transfer, organization_id=_find_organization(transfer, payout))
    stored = facts.any_org_find_facts(transfer, payout)
    return transfer, stored, matching.match(transfer, stored, since=since)


def _find_organization(transfer: RailTransfer, payout: KnownPayout | None) -> UUID | None:
    """Return the organization of a transfer that names none: from its payout, its affiliate, or its account."""
    if payout is not None:
        return payout.organization_id
    if transfer.affiliate_id is not None:
        return forgotten_payouts.any_org_find_organization(transfer.affiliate_id)
    if transfer.account is None:
        return None
    paying = facts.any_org_list_organizations_paying(method=transfer.method, account=transfer.account)
    return paying[0] if len(paying) == 1 else None


def _is_decided(row: RestoredTransfer, transfer: RailTransfer) -> bool:
    """Return whether a transfer was booked, or an operator decided that it is not booked.

    A decision made while the transfer was in flight does not apply once it is paid.
    """
    if row.booked_payout_id is not None:
        return True
    if row.problem == Problem.booking_undone:
        return transfer.state != TransferState.returned and _is_as_listed(row, transfer)
    is_settled_since = row.problem == Problem.in_flight and transfer.state == TransferState.paid
    return row.outcome == TransferOutcome.LeftOut and not is_settled_since


def _compare_again(row: RestoredTransfer, transfer: RailTransfer) -> Comparison:
    """Return the outcome of a transfer that was decided before; reopen it where it differs from its booking."""
    problem = _problem_of_booking(row, transfer) if row.booked_payout_id is not None else None
    if problem is None and row.outcome == TransferOutcome.Undecided:
        return _stage_open(row, row.problem or Problem.booking_undone)
    if problem is None or (row.outcome == TransferOutcome.LeftOut and row.problem == problem):
        return Comparison(TransferOutcome(row.outcome), None, is_new=False)
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


def _stage_open(row: RestoredTransfer, problem: str) -> Comparison:
    transfers.stage_outcome(row, TransferOutcome.Undecided, problem=problem)
    return Comparison(TransferOutcome.Undecided, problem, is_new=row.problem != problem)
