"""Writes down what was forgotten: a payout again, with what it paid as a debt, or that a known payout was paid."""

from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

from domain.payouts import natives, transfers
from domain.payouts.natives import NativeSum
from domain.payouts.states import AttemptState, PayoutStatus
from domain.payouts.transfers import BY_HAND
from domain.refused import Refused
from domain.restores.matching import KnownPayout, Match
from domain.restores.transfers import Problem, RailTransfer, TransferOutcome, TransferState, read_key
from models import ids
from models.deals import deals, milestones, releases
from models.deals.milestones import Milestone
from models.deals.releases import Release
from models.payouts import attempts, candidates, lines, payouts
from models.payouts.payouts import PaidPayout, Payout
from models.restores import advances
from models.restores.advances import ForgottenPayout
from models.restores.transfers import RestoredTransfer
from pipelines.payouts import decisions, rails, transfer

_NOTES = "Paid before the service was restored from a backup. What it paid is netted in the next payouts."


def any_org_carry_out(found: RailTransfer, known: KnownPayout | None, match: Match, *, now: datetime) -> UUID | None:
    """Do what a match says; return the payout that was written again, None where none was. Raises Refused 409."""
    if match.outcome == TransferOutcome.Booked:
        assert match.affiliate_id is not None
        assert found.organization_id is not None  # a match that books has both
        is_own = known is None and found.payout_id is not None and read_key(found.key) is not None
        return _book(found, is_own=is_own, affiliate_id=match.affiliate_id, sums=match.natives, now=now)
    if match.outcome != TransferOutcome.Resumed:
        return None
    if known is not None:
        _resume(found, known, now=now)
        return None
    return _resume_milestone(found, now=now)


def any_org_assign(
    row: RestoredTransfer, *, organization_id: UUID, affiliate_id: UUID, sums: tuple[NativeSum, ...], now: datetime
) -> UUID:
    """Book a transfer as an operator says; its payout, if it is here and was not paid, is let go of.

    Raises Refused 409 payout_processing.
    """
    known = row.payout_id and payouts.any_org_organization_of(row.payout_id)
    if known and row.payout_id is not None:
        payout = decisions.lock(organization_id=known, payout_id=row.payout_id)
        if payout.status == PayoutStatus.Processing:
            message = f"Payout {payout.id} waits for its rail: flask payout settle it as failed first."
            raise Refused(409, Problem.payout_processing, message)
        if payout.status != PayoutStatus.Paid and payout.voided_at is None:
            decisions.let_go_to_net(payout, now=now)
    found = RailTransfer(
        method=row.method,
        reference=row.reference,
        state=TransferState.paid,
        amount_cents=sum(one.cents for one in sums),
        currency="USD",
        made_at=row.made_at,
        account=row.account,
        key=row.payout_key,
        payout_id=row.payout_id,
        organization_id=organization_id,
        references=_references(row),
    )
    is_own = not known and row.payout_id is not None and read_key(row.payout_key) is not None
    return _book(found, is_own=is_own, affiliate_id=affiliate_id, sums=sums, now=now)


def any_org_organization_of(affiliate_id: UUID) -> UUID | None:
    """Return whose affiliate this is."""
    return advances.any_org_organization_of(affiliate_id)


def _references(row: RestoredTransfer) -> dict[str, str]:
    names = transfers.REFERENCES[transfers.Method(row.method)] if row.method != BY_HAND else ("externalTransactionId",)
    return dict.fromkeys(names, row.reference)


def _book(found: RailTransfer, *, is_own: bool, affiliate_id: UUID, sums: tuple[NativeSum, ...], now: datetime) -> UUID:
    """Write a forgotten payout as Paid, its lines against conversions that earn nothing; return its id.

    `is_own`: under its own id and attempt. Else, as by hand, under a new id with the rail's reference.
    """
    assert found.organization_id is not None
    where = {"organization_id": found.organization_id}
    payee = candidates.payees(**where, affiliate_ids=[affiliate_id])[affiliate_id]
    key = read_key(found.key) if is_own else None
    made_at = min(found.made_at, now)
    written = ForgottenPayout(
        payout_id=key[0] if key else ids.new_id(),
        organization_id=found.organization_id,
        program_id=payee.program_id,
        affiliate_id=affiliate_id,
        amount_cents=sum(one.cents for one in sums),
        method=found.method if key else BY_HAND,
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
    references = found.references if key else {"externalTransactionId": found.reference}
    _mark_paid(payout, references, made_at=made_at, now=now)
    return payout.id


def _resume(found: RailTransfer, known: KnownPayout, *, now: datetime) -> None:
    """Mark a known payout as paid as its rail lists it, or have its rail asked again about one that is on its way."""
    payout = decisions.lock(organization_id=known.organization_id, payout_id=known.id)
    made_at = min(found.made_at, now)
    if found.method == BY_HAND:
        decisions.pay_by_hand(payout, external_transaction_id=found.reference, now=now)
        return
    if payout.status == PayoutStatus.Processing:
        later = "the rail carried out a later attempt"
        attempts.stage_answer([payout], state=AttemptState.rejected, detail=later, at=now)
    _take_up(payout, found, made_at=made_at, now=now)


def _resume_milestone(found: RailTransfer, *, now: datetime) -> UUID:
    """Write the forgotten payout of a milestone again. Raises Refused 409 where it does not pay what is due of it."""
    assert found.organization_id is not None
    assert found.milestone_id is not None  # a match without a payout that resumes has both
    where = {"organization_id": found.organization_id}
    milestone = milestones.find(**where, milestone_id=found.milestone_id)
    assert milestone is not None
    deal = deals.lock(**where, deal_id=milestone.deal_id)
    assert deal is not None
    made_at = min(found.made_at, now)
    sums = found.natives or natives.in_usd(found.amount_cents, on=made_at.date())
    key = read_key(found.key)
    due_cents = _due_cents(milestone)
    if key is None or [(one.currency, one.native_cents) for one in sums] != [(deal.currency, due_cents)]:
        raise Refused(409, Problem.amount_differs, "The milestone is worth another amount here.")
    release = Release(
        run_id=ids.new_id(),
        payout_id=key[0],
        organization_id=found.organization_id,
        milestone_id=milestone.id,
        program_id=deal.program_id,
        affiliate_id=deal.affiliate_id,
        amount_cents=found.amount_cents,
        native_amount_cents=due_cents,
        native_currency=deal.currency,
        fx_rate=sums[0].fx_rate,
        fx_rate_date=sums[0].fx_rate_date,
        method=found.method,
        destination=found.account or "",
        confirmed_by=None,
        review_status=None,
        hold_until=None,
        day=made_at.astimezone(UTC).date(),
        created_at=made_at,
    )
    releases.stage(release, filters={"dealId": str(deal.id), "milestoneId": str(milestone.id)})
    payout = payouts.lock(**where, payout_id=release.payout_id)
    assert payout is not None
    _take_up(payout, found, made_at=made_at, now=now)
    return payout.id


def _due_cents(milestone: Milestone) -> int:
    return milestone.amount_cents if milestone.to_affiliate_cents is None else milestone.to_affiliate_cents


def _take_up(payout: Payout, found: RailTransfer, *, made_at: datetime, now: datetime) -> None:
    """Write down the attempt that a rail lists; mark the payout as paid, or have the rail asked what became of it."""
    key = read_key(found.key)
    payouts.stage_change(
        payout,
        status=PayoutStatus.Processing,
        attempt=key[1] if key else payout.attempt,
        method=found.method,
        destination=found.account or payout.destination,
        submitted_at=made_at,
        failed_at=None,
        failure_code=None,
        failure_reason=None,
    )
    taken = payouts.lock(organization_id=payout.organization_id, payout_id=payout.id)
    assert taken is not None
    attempts.stage_possible(taken, key=transfers.key_of(payout_id=taken.id, attempt=taken.attempt), at=made_at)
    if found.state == TransferState.paid:
        _mark_paid(taken, found.references, made_at=made_at, now=now)
    else:
        rails.enqueue_transfers(organization_id=taken.organization_id, method=taken.method, payout_ids=[taken.id])


def _mark_paid(payout: Payout, references: Mapping[str, str], *, made_at: datetime, now: datetime) -> None:
    deals.stage_lock_of_payouts(organization_id=payout.organization_id, payout_ids=[payout.id])
    lines.stage_conversions_lock(organization_id=payout.organization_id, payout_ids=[payout.id])
    attempts.stage_answer([payout], state=AttemptState.paid, detail="listed by its rail after a restore", at=now)
    transfer.mark_paid([PaidPayout(payout, payout.method, references)], now=now, paid_at=made_at)
