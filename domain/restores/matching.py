"""Decides what a transfer on a rail's list is here: known, of a payout that is known, forgotten, or unclear.

Ids decide first, as they were sent with the transfer. Without an affiliate's id the account decides, where exactly one
affiliate of the organization is paid to it. What was paid before the restore was known when it was made, so a transfer
of then that is not known is no forgotten one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from domain.payouts import natives
from domain.payouts.natives import NativeSum
from domain.payouts.states import PayoutStatus
from domain.payouts.transfers import BY_HAND
from domain.restores.transfers import Problem, RailTransfer, TransferOutcome, TransferState, read_key

#: The failure code of a payout that was let go of because a forgotten payment is netted first.
NETTED = "paid_before_restore"

_USD = "USD"


@dataclass(frozen=True, slots=True)
class KnownPayout:
    """The payout that a transfer names, as it is here. `is_listed`: it was listed to be paid by hand."""

    id: UUID
    organization_id: UUID
    status: str
    attempt: int
    amount_cents: int
    method: str
    is_voided: bool
    is_listed: bool
    failure_code: str | None
    external_transaction_id: str | None


class MilestoneReadiness(StrEnum):
    """How a milestone that a transfer names can be paid: now, later, or not at all, for another payout pays it."""

    ready = "ready"
    too_early = "too_early"
    taken = "taken"


@dataclass(frozen=True, slots=True)
class MatchingFacts:
    """What is known here about a transfer. `payout` is the one that it names, or that was paid under its reference.

    `has_affiliate`: the affiliate that it names exists in the organization.

    `paid_to_account` are the affiliates of the organization that are paid to the transfer's account. `milestone` is how
    the one that it names can be paid; None: it is not here. `has_unpaid_milestones`: those that it may have paid have
    deals that are not paid.
    """

    payout: KnownPayout | None
    has_organization: bool
    has_affiliate: bool
    paid_to_account: Sequence[UUID]
    milestone: MilestoneReadiness | None
    has_unpaid_milestones: bool


@dataclass(frozen=True, slots=True)
class Match:
    """What to do with a transfer. Booked has affiliate and sums."""

    outcome: TransferOutcome
    problem: Problem | None = None
    affiliate_id: UUID | None = None
    natives: tuple[NativeSum, ...] = ()


def match(transfer: RailTransfer, facts: MatchingFacts, *, since: datetime) -> Match:
    """Return what a transfer is here; `since` is the earliest time at which a forgotten one can have been made."""
    payout = facts.payout
    if transfer.state == TransferState.returned:
        is_paid_by_it = payout is not None and _is_paid_by(payout, transfer)
        return _open(Problem.known_came_back) if is_paid_by_it else Match(TransferOutcome.MovedNothing)
    if transfer.returned_cents:
        return _open(Problem.partly_returned)
    if payout is not None and not _was_netted(payout):
        return _match_known(transfer, payout)
    return _match_forgotten(transfer, facts, since)


def _was_netted(payout: KnownPayout) -> bool:
    return payout.is_voided and payout.failure_code == NETTED


def _match_known(transfer: RailTransfer, payout: KnownPayout) -> Match:
    if transfer.organization_id not in (None, payout.organization_id):
        return _open(Problem.organization_differs)
    if transfer.payout_id not in (None, payout.id):  # known by its reference alone
        return _open(Problem.paid_twice)
    if transfer.method == BY_HAND:
        return _match_by_hand(transfer, payout)
    key = read_key(transfer.key)
    number = key[1] if key else payout.attempt
    if payout.status == PayoutStatus.Paid:
        return Match(TransferOutcome.Known) if _is_paid_by(payout, transfer) else _open(Problem.paid_twice)
    if payout.is_voided:
        return _open(Problem.payout_voided)
    if not _is_amount_of(transfer, payout):
        return _open(Problem.amount_differs)
    if payout.status == PayoutStatus.Processing and number == payout.attempt:
        return Match(TransferOutcome.Known)
    if payout.is_listed:
        return _open(Problem.paid_twice)
    is_over = number < payout.attempt or (payout.status == PayoutStatus.Failed and number == payout.attempt)
    return _open(Problem.held_as_failed) if is_over else Match(TransferOutcome.Resumed)


def _match_by_hand(transfer: RailTransfer, payout: KnownPayout) -> Match:
    if payout.status == PayoutStatus.Paid:
        return Match(TransferOutcome.Known) if _is_paid_by(payout, transfer) else _open(Problem.paid_twice)
    if payout.is_voided:
        return _open(Problem.payout_voided)
    if payout.status == PayoutStatus.Processing:
        return _open(Problem.payout_processing)
    if transfer.state == TransferState.in_flight:
        return _open(Problem.in_flight)
    return Match(TransferOutcome.Resumed) if _is_amount_of(transfer, payout) else _open(Problem.amount_differs)


def _is_paid_by(payout: KnownPayout, transfer: RailTransfer) -> bool:
    """Return whether a transfer is the one that has paid a payout. By hand a brand may pay in any currency."""
    if payout.status != PayoutStatus.Paid or payout.method != transfer.method:
        return False
    if transfer.method == BY_HAND:
        is_named = payout.external_transaction_id == transfer.reference
        return is_named and (transfer.currency != _USD or _is_amount_of(transfer, payout))
    key = read_key(transfer.key)
    return (key is None or key[1] == payout.attempt) and _is_amount_of(transfer, payout)


def _is_amount_of(transfer: RailTransfer, payout: KnownPayout) -> bool:
    return (transfer.amount_cents, transfer.currency) == (payout.amount_cents, _USD)


def _match_forgotten(transfer: RailTransfer, facts: MatchingFacts, since: datetime) -> Match:
    if not facts.has_organization:
        return _open(Problem.unknown_organization)
    if transfer.made_at < since:
        return _open(Problem.before_restore)
    if transfer.currency != _USD:
        return _open(Problem.not_in_usd)
    if transfer.milestone_id is not None:
        return _match_milestone(facts.milestone)
    affiliate_id = _affiliate(transfer, facts)
    if isinstance(affiliate_id, Problem):
        return _open(affiliate_id)
    if transfer.state == TransferState.in_flight:
        return _open(Problem.in_flight)
    if transfer.natives is not None:
        return Match(TransferOutcome.Booked, affiliate_id=affiliate_id, natives=transfer.natives)
    if facts.has_unpaid_milestones:
        return _open(Problem.milestone_unclear)
    sums = natives.in_usd(transfer.amount_cents, on=transfer.made_at.date())
    return Match(TransferOutcome.Booked, affiliate_id=affiliate_id, natives=sums)


def _match_milestone(milestone: MilestoneReadiness | None) -> Match:
    match milestone:
        case MilestoneReadiness.ready:
            return Match(TransferOutcome.Resumed)
        case MilestoneReadiness.too_early:
            return Match(TransferOutcome.Waiting)
        case MilestoneReadiness.taken:
            return _open(Problem.milestone_paid)
    return _open(Problem.unknown_milestone)


def _affiliate(transfer: RailTransfer, facts: MatchingFacts) -> UUID | Problem:
    if transfer.affiliate_id is not None:
        return transfer.affiliate_id if facts.has_affiliate else Problem.unknown_affiliate
    if len(facts.paid_to_account) == 1:
        return facts.paid_to_account[0]
    return Problem.several_affiliates if facts.paid_to_account else Problem.unknown_affiliate


def _open(problem: Problem) -> Match:
    return Match(TransferOutcome.Undecided, problem)
