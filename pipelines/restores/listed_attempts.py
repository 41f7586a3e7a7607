"""Writes the attempt that a rail lists to its payout: paid, or still in flight."""

from collections.abc import Mapping
from datetime import datetime

from domain.payouts import native_sums, transfers
from domain.payouts.states import AttemptState, PayoutStatus
from domain.restores.transfers import RailTransfer, TransferState, name_references, parse_key
from models.deals import deals
from models.payouts import attempts, lines, payouts
from models.payouts.payouts import PaidPayout, Payout
from models.restores.transfers import RestoredTransfer
from pipelines.payouts import rails, transfer


def transfer_from_row(row: RestoredTransfer) -> RailTransfer:
    """Return a transfer as it was last listed; its account is masked."""
    return RailTransfer(
        method=row.method,
        reference=row.reference,
        state=TransferState(row.state),
        amount_cents=row.amount_cents,
        currency=row.currency,
        made_at=row.made_at,
        account=row.account,
        key=row.payout_key,
        payout_id=row.payout_id,
        organization_id=row.organization_id,
        affiliate_id=row.affiliate_id,
        milestone_id=row.milestone_id,
        natives=native_sums.from_text(row.native, total_cents=row.amount_cents),
        references=name_references(row.method, row.reference),
    )


def adopt(payout: Payout, listed: RailTransfer, *, made_at: datetime, now: datetime) -> None:
    """Write the attempt that a rail lists to its payout; mark the payout as paid, or stage calling the rail again."""
    key = parse_key(listed.key)
    payouts.stage_change(
        payout,
        status=PayoutStatus.Processing,
        attempt=key[1] if key else payout.attempt,
        method=listed.method,
        destination=listed.account or payout.destination,
        submitted_at=made_at,
        failed_at=None,
        failure_code=None,
        failure_reason=None,
    )
    after = payouts.lock(organization_id=payout.organization_id, payout_id=payout.id)
    assert after is not None
    attempts.stage_possible(after, key=transfers.idempotency_key(payout_id=after.id, attempt=after.attempt), at=made_at)
    if listed.state == TransferState.paid:
        mark_paid(after, listed.references, made_at=made_at, now=now)
    else:
        rails.enqueue_transfers(organization_id=after.organization_id, method=after.method, payout_ids=[after.id])


def mark_paid(payout: Payout, references: Mapping[str, str], *, made_at: datetime, now: datetime) -> None:
    """Mark a payout as paid as its rail lists it, or by hand under the brand's reference."""
    deals.stage_lock_of_payouts(organization_id=payout.organization_id, payout_ids=[payout.id])
    lines.stage_conversions_lock(organization_id=payout.organization_id, payout_ids=[payout.id])
    attempts.stage_answer([payout], state=AttemptState.paid, detail="listed by its rail after a restore", at=now)
    transfer.mark_paid([PaidPayout(payout, payout.method, references)], now=now, paid_at=made_at)
