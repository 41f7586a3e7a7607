"""Writes down what was forgotten: a payout again, with what it paid as a debt, or that a known payout was paid."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from domain.payouts.native_sums import NativeSum
from domain.payouts.states import AttemptState, PayoutStatus
from domain.payouts.transfers import MANUAL
from domain.refusals import Refused
from domain.restores.matching import KnownPayout, Match
from domain.restores.transfers import Problem, RailTransfer, TransferOutcome, TransferState, parse_key
from models import ids
from models.payouts import attempts, candidates, payouts
from models.payouts.payouts import Payout
from models.restores import advances
from models.restores.advances import ForgottenPayout
from models.restores.transfers import RestoredTransfer
from models.upkeep import known_servers
from pipelines.payouts import decisions
from pipelines.restores import listed_attempts, paid_milestones

_NOTES = "Paid before the service was restored from a backup. What it paid is netted in the next payouts."


def any_org_carry_out(found: RailTransfer, known: KnownPayout | None, match: Match, *, now: datetime) -> UUID | None:
    """Do what a match says; return the payout that was written again, None where none was. Raises Refused 409."""
    if match.outcome == TransferOutcome.Booked:
        assert match.affiliate_id is not None
        assert found.organization_id is not None  # a match that books has both
        is_own = known is None and _has_own_key(found)
        return _book(found, is_own=is_own, affiliate_id=match.affiliate_id, sums=match.natives, now=now)
    if match.outcome != TransferOutcome.Resumed:
        return None
    if known is not None:
        _resume(found, known, now=now)
        return None
    return paid_milestones.pay_listed(found, now=now)


def any_org_assign(
    row: RestoredTransfer, *, organization_id: UUID, affiliate_id: UUID, sums: tuple[NativeSum, ...], now: datetime
) -> UUID:
    """Book a transfer as an operator says; its payout, if it is here and was not paid, is let go of.

    Raises Refused 409: payout_processing, milestone_paid.
    """
    known = row.payout_id and payouts.any_org_find_organization(row.payout_id)
    if known and row.payout_id is not None:
        payout = decisions.lock(organization_id=known, payout_id=row.payout_id)
        if payout.status == PayoutStatus.Processing:
            message = f"Payout {payout.id} waits for its rail: flask payout settle it as failed first."
            raise Refused(409, Problem.payout_processing, message)
        if payout.milestone_id is not None and payout.status != PayoutStatus.Paid:
            message = (
                f"Payout {payout.id} pays a milestone, and no run nets what a milestone was paid: settle it with the"
                " brand and the affiliate, then accept the transfer."
            )
            raise Refused(409, Problem.milestone_paid, message)
        if payout.status != PayoutStatus.Paid and payout.voided_at is None and known == organization_id:
            decisions.void_to_net(payout, now=now)
    found = replace(
        listed_attempts.transfer_from_row(row),
        state=TransferState.paid,
        amount_cents=sum(one.cents for one in sums),
        currency="USD",
        organization_id=organization_id,
        milestone_id=None,
    )
    is_own = not known and _has_own_key(found)
    return _book(found, is_own=is_own, affiliate_id=affiliate_id, sums=sums, now=now)


def _has_own_key(found: RailTransfer) -> bool:
    return found.method != MANUAL and found.payout_id is not None and parse_key(found.key) is not None


def any_org_organization_of(affiliate_id: UUID) -> UUID | None:
    """Return whose affiliate this is."""
    return advances.any_org_find_organization(affiliate_id)


def _book(found: RailTransfer, *, is_own: bool, affiliate_id: UUID, sums: tuple[NativeSum, ...], now: datetime) -> UUID:
    """Write a forgotten payout as Paid, its lines against conversions that earn nothing; return its id.

    `is_own`: under its own id and attempt. Else, as by hand, under a new id with the rail's reference.
    """
    assert found.organization_id is not None
    where = {"organization_id": found.organization_id}
    payee = candidates.find_payees(**where, affiliate_ids=[affiliate_id])[affiliate_id]
    key = parse_key(found.key) if is_own else None
    made_at = min(found.made_at, now)
    written = ForgottenPayout(
        payout_id=key[0] if key else ids.new_id(),
        organization_id=found.organization_id,
        program_id=payee.program_id,
        affiliate_id=affiliate_id,
        amount_cents=sum(one.cents for one in sums),
        method=found.method if key else MANUAL,
        destination=found.account or payee.destination or "",
        attempt=key[1] if key else 1,
        key=found.key if key else None,
        notes=_NOTES,
        made_at=made_at,
        day=made_at.astimezone(UTC).date(),
    )
    advances.stage_insert(written, sums)
    payout = payouts.lock(**where, payout_id=written.payout_id)
    assert payout is not None
    _let_go_to_net(payout, now=now)
    references = found.references if key else {"externalTransactionId": found.reference}
    listed_attempts.mark_paid(payout, references, made_at=made_at, now=now)
    return payout.id


def _let_go_to_net(booked: Payout, *, now: datetime) -> None:
    """Let go of what waits to be sent to a booked payout's affiliate; while payouts are held, the release does."""
    if not known_servers.is_known():
        return
    where = {"organization_id": booked.organization_id}
    for payout_id in payouts.list_pending_of_affiliate(**where, affiliate_id=booked.affiliate_id):
        payout = decisions.lock(**where, payout_id=payout_id)
        if payout.status == PayoutStatus.Pending and payout.milestone_id is None and payout.exported_at is None:
            decisions.void_to_net(payout, now=now)


def _resume(found: RailTransfer, known: KnownPayout, *, now: datetime) -> None:
    """Mark a known payout as paid as its rail lists it, or have its rail asked again about one that is on its way."""
    payout = decisions.lock(organization_id=known.organization_id, payout_id=known.id)
    made_at = min(found.made_at, now)
    if found.method == MANUAL:
        decisions.pay_by_hand(payout, external_transaction_id=found.reference, now=now)
        return
    if payout.status == PayoutStatus.Processing:
        later = "the rail carried out a later attempt"
        attempts.stage_answer([payout], state=AttemptState.rejected, detail=later, at=now)
    listed_attempts.take_up(payout, found, made_at=made_at, now=now)
