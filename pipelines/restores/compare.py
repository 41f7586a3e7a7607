"""Compares a rail's transfers with the books, each in a transaction of its own, and does what follows.

A transfer has one row, locked first: a comparison that was killed is done again from its list, two at once wait for
each other, and what was booked is never booked again.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from domain.payouts import destinations
from domain.payouts.natives import NativeSum
from domain.refused import Refused, not_found
from domain.restores import matching
from domain.restores.matching import KnownPayout, Match, MatchingFacts
from domain.restores.transfers import ADVICE, Problem, RailTransfer, TransferOutcome, TransferState
from models import turns
from models.restores import facts, transfers
from models.restores.transfers import RestoredTransfer
from pipelines.restores import book

_DONE = (TransferOutcome.Booked, TransferOutcome.LeftOut)


@dataclass(frozen=True, slots=True)
class Compared:
    """What a transfer is here. `is_new`: this comparison booked it, or found the problem."""

    outcome: TransferOutcome
    problem: str | None
    is_new: bool


def any_org_preview(transfer: RailTransfer) -> Match:
    """Return what comparing a transfer would do, apart from what was decided about it before. Writes nothing."""
    _, _, match = _matched(transfer)
    return match


def any_org_compare(transfer: RailTransfer, *, now: datetime) -> Compared:
    """Compare a transfer and do what follows; once, however often it is compared."""
    transfer, known, match = _matched(transfer)
    organization_id = transfer.organization_id if known.has_organization else None
    if organization_id is not None:
        turns.stage_no_run(organization_id)
        turns.stage_payout_decision(organization_id)
    masked = destinations.masked(transfer.account) if transfer.account else None
    row = transfers.lock(transfer, organization_id=organization_id, account=masked)
    if row.outcome in _DONE:
        return _compare_again(row)
    transfer, known, match = _matched(transfer)  # as it is under the locks
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

    Raises Refused: 404 not_found, 409 not_open, payout_processing.
    """
    row = any_org_open_row(reference)
    organization_id = book.any_org_organization_of(affiliate_id)
    if organization_id is None:
        raise not_found("affiliate", affiliate_id)
    if row.booked_payout_id is not None:
        raise Refused(409, "not_open", f"{reference} is booked already; accept it when it is in order.")
    turns.stage_no_run(organization_id)
    turns.stage_payout_decision(organization_id)
    booked_id = book.any_org_assign(row, organization_id=organization_id, affiliate_id=affiliate_id, sums=sums, now=now)
    transfers.stage_outcome(
        row,
        TransferOutcome.Booked,
        organization_id=organization_id,
        affiliate_id=affiliate_id,
        booked_payout_id=booked_id,
        why=why,
    )
    return replace(row, organization_id=organization_id, affiliate_id=affiliate_id, booked_payout_id=booked_id)


def any_org_accept(reference: str, *, why: str) -> RestoredTransfer:
    """Let an open transfer be as it is. Raises Refused: 404 not_found, 409 not_open."""
    row = any_org_open_row(reference)
    transfers.stage_outcome(row, TransferOutcome.LeftOut, problem=row.problem, why=why)
    return row


def any_org_open_row(reference: str) -> RestoredTransfer:
    """Return the open transfer that its rail calls so, locked. Raises Refused: 404 not_found, 409 not_open."""
    rows = transfers.any_org_lock_by_reference(reference)
    if not rows:
        raise Refused(404, "not_found", f"No list had a transfer {reference}.")
    row = next((one for one in rows if one.outcome == TransferOutcome.Undecided), None)
    if row is None:
        raise Refused(409, "not_open", f"{reference} is {rows[0].outcome}; nothing is to be decided about it.")
    return row


def advice(problem: str) -> str:
    """Return what a problem means and what to do about it."""
    known: Collection[str] = list(Problem)
    return (
        ADVICE[Problem(problem)] if problem in known else f"its payout here refuses it ({problem}): flask payout show"
    )


def _matched(transfer: RailTransfer) -> tuple[RailTransfer, MatchingFacts, Match]:
    payout = facts.any_org_payout(transfer.payout_id)
    if transfer.organization_id is None:
        transfer = replace(transfer, organization_id=_organization(transfer, payout))
    known = facts.any_org_facts(transfer, payout)
    return transfer, known, matching.match(transfer, known)


def _organization(transfer: RailTransfer, payout: KnownPayout | None) -> UUID | None:
    """Return the organization of a transfer that names none: of its payout, its affiliate, or its account alone."""
    if payout is not None:
        return payout.organization_id
    if transfer.affiliate_id is not None:
        return book.any_org_organization_of(transfer.affiliate_id)
    if transfer.account is None:
        return None
    paying = facts.any_org_organizations_paying(method=transfer.method, account=transfer.account)
    return paying[0] if len(paying) == 1 else None


def _compare_again(row: RestoredTransfer) -> Compared:
    """Return what a transfer is that was booked or accepted before; reopen what came back."""
    if row.outcome == TransferOutcome.Booked and row.state == TransferState.returned:
        return _stage_open(row, Problem.came_back)
    return Compared(TransferOutcome(row.outcome), None, is_new=False)


def _stage_open(row: RestoredTransfer, problem: str) -> Compared:
    transfers.stage_outcome(row, TransferOutcome.Undecided, problem=problem)
    return Compared(TransferOutcome.Undecided, problem, is_new=row.problem != problem)
