"""A person changes what a conversion earns: the commission, its refunds' shares of it and the override above it.

Existing ledger entries stay: the difference is a new entry, and so is the change of what refunds take.
Source: tracking spec, section 6, conversion.adjusted; decision 73.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from domain.conversions import adjust, override, refund
from domain.refusals import Refused
from domain.statuses import EARNS_NOTHING, UNPAID, ConversionStatus, ConversionType, Payability
from models import ids
from models.conversions import conversions, refunds, reviews
from models.conversions.changes import adjustments
from models.conversions.conversions import Conversion
from models.imports import conversions as imports
from models.ledger import entries
from pipelines.conversions.override import enqueue_missing_override
from pipelines.conversions.review import ReviewedConversion
from pipelines.payouts import take_back
from pipelines.webhooks import emit

_REWARDS = (ConversionType.ClickReward, ConversionType.LeadReward)


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change of a commission: `id` is the cause that the ledger names."""

    id: UUID
    reason: str
    note: str | None
    at: datetime


def set_commission(
    subject: ReviewedConversion, commission_cents: int, *, reason: str, note: str | None, now: datetime
) -> Conversion:
    """Set the commission, after refunds, of a conversion that `review.lock` locked; return the conversion after it.

    The override gets its share of the new commission; if it does not exist yet, its creation is queued.
    Raises Refused: 409 conversion_not_adjustable, conversion_in_payout; 422 commission_out_of_range.
    """
    conversion = subject.conversion
    gross_cents = _gross_commission_cents(conversion, commission_cents)
    if gross_cents == conversion.commission_cents:
        return conversion
    adjustment = Adjustment(ids.new_id(), reason, note, now)
    after = _apply(adjustment, conversion, gross_cents, parent=conversion)
    _update_override(adjustment, conversion, after)
    return after


def _gross_commission_cents(conversion: Conversion, requested_cents: int) -> int:
    adjustable = adjust.AdjustableConversion(
        amount_cents=conversion.amount_cents,
        refunded_cents=conversion.refunded_cents,
        status=conversion.status,
        can_earn=not conversion.payout_locked
        and conversion.parent_id is None
        and conversion.payability == Payability.payable,
        is_in_payout=adjustments.is_in_payout(organization_id=conversion.organization_id, conversion_id=conversion.id),
    )
    try:
        return adjust.commission(adjustable, net_cents=requested_cents)
    except adjust.AdjustmentRefused as refused:
        status = 422 if refused.code == "commission_out_of_range" else 409
        field = {"field": "commissionCents"} if status == 422 else {}
        raise Refused(status, refused.code, refused.message, **field) from refused


def _update_override(adjustment: Adjustment, before: Conversion, after: Conversion) -> None:
    """Set the override to its share, or queue its creation if the commission was too small for one before."""
    row = conversions.lock_override(organization_id=after.organization_id, parent_id=after.id)
    if row is not None:
        _set_override_commission(adjustment, row, after)
    elif after.type not in _REWARDS and after.source != imports.SOURCE:
        enqueue_missing_override(before)


def _set_override_commission(adjustment: Adjustment, row: Conversion, parent: Conversion) -> None:
    assert row.rate_value is not None  # the recruiter's percentage
    commission_cents = adjust.override_commission(
        status=row.status,
        commission_cents=row.commission_cents,
        share_cents=override.share_cents(commission_cents=parent.commission_cents, percent=row.rate_value),
        paid_cents=adjust.gross_commission(max(row.paid_cents, 0), parent.amount_cents, parent.refunded_cents),
    )
    if commission_cents == row.commission_cents:
        return
    after = _apply(adjustment, row, commission_cents, parent=parent)
    if after.net_commission_cents < row.net_commission_cents:
        take_back.take_back_if_in_payout(row, row.net_commission_cents - after.net_commission_cents, now=adjustment.at)
    else:
        take_back.give_back_if_in_payout(after, now=adjustment.at)


def _apply(adjustment: Adjustment, before: Conversion, commission_cents: int, *, parent: Conversion) -> Conversion:
    """Stage one row's new commission with its refunds' shares, history line, ledger entries and event."""
    key = {"organization_id": before.organization_id, "conversion_id": before.id}
    changes = _reversal_changes(before, commission_cents, parent)
    reversal_cents = sum(cents for _, cents in changes)
    after = replace(before, commission_cents=commission_cents, reversed_cents=before.reversed_cents + reversal_cents)
    after = replace(after, status=_status(after))
    adjustments.stage_change(
        adjustments.CommissionChange(
            **key,
            id=adjustment.id,
            previous_cents=before.commission_cents,
            commission_cents=commission_cents,
            reason=adjustment.reason,
            note=adjustment.note,
            created_at=adjustment.at,
        )
    )
    adjustments.stage_reversals(**key, changes=changes)
    adjustments.stage_commission(
        **key, commission_cents=commission_cents, reversal_cents=reversal_cents, status=after.status
    )
    _stage_entries(adjustment, before, commission_cents - before.commission_cents, reversal_cents)
    conversions.stage_history(
        [
            conversions.NewHistoryLine(
                **key,
                event_type="adjustment",
                amount_cents=0,
                commission_cents=after.net_commission_cents - before.net_commission_cents,
                occurred_at=adjustment.at,
                **({} if before.parent_id else {"id": adjustment.id}),
            )
        ]
    )
    emit.conversion_adjusted(before, after, reason=adjustment.reason, at=adjustment.at)
    return after


def _reversal_changes(before: Conversion, commission_cents: int, parent: Conversion) -> list[tuple[UUID, int]]:
    """Return how much more each refund takes of a row's new commission, including a refund of the override itself."""
    changes = adjust.reversal_changes(
        commission_cents=commission_cents,
        amount_cents=parent.amount_cents,
        refunds=reviews.list_applied_refunds(
            organization_id=before.organization_id, parent_id=parent.id, conversion_id=before.id
        ),
    )
    own = refunds.find_own(before)
    if own is not None:
        target_cents = refund.compute_reversal_target(
            commission_cents=commission_cents,
            amount_cents=parent.amount_cents,
            refunded_cents=parent.refunded_cents,
            is_full=own.is_full,
        )
        changes.append((own.id, target_cents - before.reversed_cents - sum(cents for _, cents in changes)))
    return changes


def _status(after: Conversion) -> str:
    """Return the status of a row with its new commission: an override is Paid exactly if that amount was paid."""
    if after.parent_id is None or after.status not in (*UNPAID, ConversionStatus.Paid):
        return after.status
    return refund.restored_status(
        after.status, before=None, net_cents=after.net_commission_cents, paid_cents=after.paid_cents
    )


def _stage_entries(adjustment: Adjustment, before: Conversion, more_cents: int, reversal_cents: int) -> None:
    """Stage the difference and what refunds take of it; they add up to zero for a row that earns nothing."""
    amounts = {
        "adjust": reversal_cents if before.status in EARNS_NOTHING else more_cents,
        "reverse" if reversal_cents > 0 else "restore": -reversal_cents,
    }
    for kind, cents in amounts.items():
        entries.stage(before, kind=kind, amount_cents=cents, cause_id=adjustment.id, created_at=adjustment.at)
