"""Books forgotten payments: inserts a payout again, with its amount as a debt, or marks a known payout as paid."""

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
from pipelines.restores import listed_attempts, milestone_payments

_NOTES = "Paid before the service was restored from a backup. The amount is netted in the next payouts."


def any_org_carry_out(
    transfer: RailTransfer, payout: KnownPayout | None, match: Match, *, now: datetime
) -> UUID | None:
    """Act on a match; return the payout that was inserted again, None where none was. Raises Refused 409."""
    if match.outcome == TransferOutcome.Booked:
        assert match.affiliate_id is not None
        assert transfer.organization_id is not None  # a match that books has both
        is_own = payout is None and _has_own_key(transfer)
        return _book(transfer, is_own=is_own, affiliate_id=match.affiliate_id, sums=match.natives, now=now)
    if match.outcome != TransferOutcome.Resumed:
        return None
    if payout is not None:
        _resume(transfer, payout, now=now)
        return None
    return milestone_payments.pay_listed(transfer, now=now)


def any_org_assign(
    row: RestoredTransfer, *, organization_id: UUID, affiliate_id: UUID, sums: tuple[NativeSum, ...], now: datetime
) -> UUID:
    """Book a transfer as an operator decides; its payout, if it exists here and was not paid, is voided.

    Raises Refused 409: payout_processing, milestone_paid.
    """
    payout_organization_id = row.payout_id and payouts.any_org_find_organization(row.payout_id)
    if payout_organization_id and row.payout_id is not None:
        payout = decisions.lock(organization_id=payout_organization_id, payout_id=row.payout_id)
        if payout.status == PayoutStatus.Processing:
            message = f"Payout {payout.id} waits for its rail. Settle it as failed first (flask payout settle)."
            raise Refused(409, Problem.payout_processing, message)
        if payout.milestone_id is not None and payout.status != PayoutStatus.Paid:
            message = (
                f"Payout {payout.id} pays a milestone, and runs do not net payments of milestones. Settle it with the"
                " brand and the affiliate, then accept the transfer."
            )
            raise Refused(409, Problem.milestone_paid, message)
        is_unpaid = payout.status != PayoutStatus.Paid and payout.voided_at is None
        if is_unpaid and payout_organization_id == organization_id:
            decisions.void_to_net(payout, now=now)
    paid_transfer = replace(
        listed_attempts.transfer_from_row(row),
        state=TransferState.paid,
        amount_cents=sum(amount.cents for amount in sums),
        currency="USD",
        organization_id=organization_id,
        milestone_id=None,
    )
    is_own = not payout_organization_id and _has_own_key(paid_transfer)
    return _book(paid_transfer, is_own=is_own, affiliate_id=affiliate_id, sums=sums, now=now)


def _has_own_key(transfer: RailTransfer) -> bool:
    return transfer.method != MANUAL and transfer.payout_id is not None and parse_key(transfer.key) is not None


def any_org_find_organization(affiliate_id: UUID) -> UUID | None:
    """Return the organization of an affiliate."""
    return advances.any_org_find_organization(affiliate_id)


def _book(
    transfer: RailTransfer, *, is_own: bool, affiliate_id: UUID, sums: tuple[NativeSum, ...], now: datetime
) -> UUID:
    """Insert a forgotten payout as Paid, with lines for conversions that earn nothing; return its id.

    `is_own`: under its own id and attempt. Otherwise as paid by hand, under a new id with the rail's reference.
    """
    assert transfer.organization_id is not None
    where = {"organization_id": transfer.organization_id}
    payee = candidates.find_payees(**where, affiliate_ids=[affiliate_id])[affiliate_id]
    key = parse_key(transfer.key) if is_own else None
    made_at = min(transfer.made_at, now)
    forgotten = ForgottenPayout(
        payout_id=key[0] if key else ids.new_id(),
        organization_id=transfer.organization_id,
        program_id=payee.program_id,
        affiliate_id=affiliate_id,
        amount_cents=sum(amount.cents for amount in sums),
        method=transfer.method if key else MANUAL,
        destination=transfer.account or payee.destination or "",
        attempt=key[1] if key else 1,
        key=transfer.key if key else None,
        notes=_NOTES,
        made_at=made_at,
        day=made_at.astimezone(UTC).date(),
    )
    advances.stage_insert(forgotten, sums)
    payout = payouts.lock(**where, payout_id=forgotten.payout_id)
    assert payout is not None
    _void_pending(payout, now=now)
    references = transfer.references if key else {"externalTransactionId": transfer.reference}
    listed_attempts.mark_paid(payout, references, made_at=made_at, now=now)
    return payout.id


def _void_pending(paid_payout: Payout, *, now: datetime) -> None:
    """Void the affiliate's payouts that wait to be sent; while payouts are on hold, the release does that."""
    if not known_servers.is_known():
        return
    where = {"organization_id": paid_payout.organization_id}
    for payout_id in payouts.list_pending_of_affiliate(**where, affiliate_id=paid_payout.affiliate_id):
        payout = decisions.lock(**where, payout_id=payout_id)
        if payout.status == PayoutStatus.Pending and payout.milestone_id is None and payout.exported_at is None:
            decisions.void_to_net(payout, now=now)


def _resume(transfer: RailTransfer, known_payout: KnownPayout, *, now: datetime) -> None:
    """Mark a known payout as paid as its rail lists it, or stage calling the rail again if it is still being sent."""
    payout = decisions.lock(organization_id=known_payout.organization_id, payout_id=known_payout.id)
    made_at = min(transfer.made_at, now)
    if transfer.method == MANUAL:
        decisions.pay_by_hand(payout, external_transaction_id=transfer.reference, now=now)
        return
    if payout.status == PayoutStatus.Processing:
        detail = "the rail carried out a later attempt"
        attempts.stage_answer([payout], state=AttemptState.rejected, detail=detail, at=now)
    listed_attempts.adopt(payout, transfer, made_at=made_at, now=now)
