"""Matches a transfer on a rail's list with the books: known, of a known payout, forgotten, or unclear.

A forgotten transfer is one that the restored database has lost. Ids that were sent with the transfer decide first.
Without an affiliate's id the account decides, if exactly one affiliate of the organization is paid to it. The restored
books contain everything from before the restore point, so an unknown transfer from before it is not a forgotten one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from domain.payouts import native_sums
from domain.payouts.native_sums import NativeSum
from domain.payouts.states import PayoutStatus
from domain.payouts.transfers import MANUAL
from domain.restores.transfers import Problem, RailTransfer, TransferOutcome, TransferState, parse_key

#: The failure code of a payout that was released because a forgotten payment is netted first.
NETTED = "paid_before_restore"

_USD = "USD"


@dataclass(frozen=True, slots=True)
class KnownPayout:
    """The payout that a transfer names, in its current state. `is_listed`: it was exported to be paid manually."""

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
    """When a milestone that a transfer names can be paid: now, later, or never because another payout pays it."""

    ready = "ready"
    too_early = "too_early"
    taken = "taken"


@dataclass(frozen=True, slots=True)
class MatchingFacts:
    """The facts of the books about a transfer. `payout` is the one that it names, or that was paid under its reference.

    `has_affiliate`: the affiliate that it names exists in the organization. `paid_to_account` are the affiliates of the
    organization that are paid to the transfer's account. `milestone` is the readiness of the one that it names; None:
    it does not exist. `has_unpaid_milestones`: the affiliates that it may have paid have unpaid milestones.
    """

    payout: KnownPayout | None
    has_organization: bool
    has_affiliate: bool
    paid_to_account: Sequence[UUID]
    milestone: MilestoneReadiness | None
    has_unpaid_milestones: bool


@dataclass(frozen=True, slots=True)
class Match:
    """The decision about a transfer. Booked has an affiliate and sums."""

    outcome: TransferOutcome
    problem: Problem | None = None
    affiliate_id: UUID | None = None
    natives: tuple[NativeSum, ...] = ()


def match(transfer: RailTransfer, facts: MatchingFacts, *, since: datetime) -> Match:
    """Return the decision about a transfer; `since` is the earliest time of a forgotten one."""
    payout = facts.payout
    if transfer.state == TransferState.returned:
        is_paid_by_it = payout is not None and _is_paid_by(payout, transfer)
        return _to_undecided(Problem.known_came_back) if is_paid_by_it else Match(TransferOutcome.MovedNothing)
    if transfer.returned_cents:
        return _to_undecided(Problem.partly_returned)
    if payout is not None and not (payout.is_voided and payout.failure_code == NETTED):
        return _match_known(transfer, payout)
    return _match_forgotten(transfer, facts, since)


def _match_known(transfer: RailTransfer, payout: KnownPayout) -> Match:
    if transfer.organization_id not in (None, payout.organization_id):
        return _to_undecided(Problem.organization_differs)
    if transfer.payout_id not in (None, payout.id):  # it was found by its reference alone
        return _to_undecided(Problem.paid_twice)
    if transfer.method == MANUAL:
        return _match_manual(transfer, payout)
    key = parse_key(transfer.key)
    number = key[1] if key else payout.attempt
    if payout.status == PayoutStatus.Paid:
        return Match(TransferOutcome.Known) if _is_paid_by(payout, transfer) else _to_undecided(Problem.paid_twice)
    if payout.is_voided:
        return _to_undecided(Problem.payout_voided)
    if not _is_amount_of(transfer, payout):
        return _to_undecided(Problem.amount_differs)
    if payout.status == PayoutStatus.Processing and number == payout.attempt:
        return Match(TransferOutcome.Known)
    if payout.is_listed:
        return _to_undecided(Problem.paid_twice)
    is_over = number < payout.attempt or (payout.status == PayoutStatus.Failed and number == payout.attempt)
    return _to_undecided(Problem.held_as_failed) if is_over else Match(TransferOutcome.Resumed)


def _match_manual(transfer: RailTransfer, payout: KnownPayout) -> Match:
    if payout.status == PayoutStatus.Paid:
        return Match(TransferOutcome.Known) if _is_paid_by(payout, transfer) else _to_undecided(Problem.paid_twice)
    if payout.is_voided:
        return _to_undecided(Problem.payout_voided)
    if payout.status == PayoutStatus.Processing:
        return _to_undecided(Problem.payout_processing)
    if transfer.state == TransferState.in_flight:
        return _to_undecided(Problem.in_flight)
    return Match(TransferOutcome.Resumed) if _is_amount_of(transfer, payout) else _to_undecided(Problem.amount_differs)


def _is_paid_by(payout: KnownPayout, transfer: RailTransfer) -> bool:
    """Return whether a transfer has paid a payout. A manual payment can be in any currency."""
    if payout.status != PayoutStatus.Paid or payout.method != transfer.method:
        return False
    if transfer.method == MANUAL:
        has_reference = payout.external_transaction_id == transfer.reference
        return has_reference and (transfer.currency != _USD or _is_amount_of(transfer, payout))
    key = parse_key(transfer.key)
    return (key is None or key[1] == payout.attempt) and _is_amount_of(transfer, payout)


def _is_amount_of(transfer: RailTransfer, payout: KnownPayout) -> bool:
    return (transfer.amount_cents, transfer.currency) == (payout.amount_cents, _USD)


def _match_forgotten(transfer: RailTransfer, facts: MatchingFacts, since: datetime) -> Match:
    if not facts.has_organization:
        return _to_undecided(Problem.unknown_organization)
    if transfer.made_at < since:
        return _to_undecided(Problem.before_restore)
    if transfer.currency != _USD:
        return _to_undecided(Problem.not_in_usd)
    if transfer.milestone_id is not None:
        return _match_milestone(facts.milestone)
    affiliate_id = _find_affiliate(transfer, facts)
    if isinstance(affiliate_id, Problem):
        return _to_undecided(affiliate_id)
    if transfer.state == TransferState.in_flight:
        return _to_undecided(Problem.in_flight)
    if transfer.natives is not None:
        return Match(TransferOutcome.Booked, affiliate_id=affiliate_id, natives=transfer.natives)
    if facts.has_unpaid_milestones:
        return _to_undecided(Problem.milestone_unclear)
    sums = native_sums.usd_sums(transfer.amount_cents, on=transfer.made_at.date())
    return Match(TransferOutcome.Booked, affiliate_id=affiliate_id, natives=sums)


def _match_milestone(milestone: MilestoneReadiness | None) -> Match:
    match milestone:
        case MilestoneReadiness.ready:
            return Match(TransferOutcome.Resumed)
        case MilestoneReadiness.too_early:
            return Match(TransferOutcome.Waiting)
        case MilestoneReadiness.taken:
            return _to_undecided(Problem.milestone_paid)
    return _to_undecided(Problem.unknown_milestone)


def _find_affiliate(transfer: RailTransfer, facts: MatchingFacts) -> UUID | Problem:
    if transfer.affiliate_id is not None:
        return transfer.affiliate_id if facts.has_affiliate else Problem.unknown_affiliate
    if len(facts.paid_to_account) == 1:
        return facts.paid_to_account[0]
    return Problem.several_affiliates if facts.paid_to_account else Problem.unknown_affiliate


def _to_undecided(problem: Problem) -> Match:
    return Match(TransferOutcome.Undecided, problem)
