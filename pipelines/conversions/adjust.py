"""A person changes what a conversion earns: the commission, its refunds' shares of it and the override above it.

Nothing in the ledger changes: the difference is an entry of its own, and so is what refunds take more or less.
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
from pipelines.conversions.review import Subject
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


def of_conversion(
    subject: Subject, commission_cents: int, *, reason: str, note: str | None, now: datetime
) -> Conversion:
    """Give a conversion that `review.lock` locked another commission, after refunds; return it as it is then.

    Its override gets its share of the new one; an override that is not written yet is written with it.
    Raises Refused: 409 conversion_not_adjustable, conversion_in_payout; 422 commission_out_of_range.
    """
    conversion = subject.conversion
    gross_cents = _decide(conversion, commission_cents)
    if gross_cents == conversion.commission_cents:
        return conversion
    word = Adjustment(ids.new_id(), reason, note, now)
    after = _apply(word, conversion, gross_cents, parent=conversion)
    _follow(word, conversion, after)
    return after


def _decide(conversion: Conversion, wanted_cents: int) -> int:
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
        return adjust.commission(adjustable, net_cents=wanted_cents)
    except adjust.AdjustmentRefused as refused:
        status = 422 if refused.code == "commission_out_of_range" else 409
        field = {"field": "commissionCents"} if status == 422 else {}
        raise Refused(status, refused.code, refused.message, **field) from refused


def _follow(word: Adjustment, before: Conversion, after: Conversion) -> None:
    """Bring the override to its share, or have it written where the commission was too small for one."""
    share = conversions.lock_override(organization_id=after.organization_id, parent_id=after.id)
    if share is not None:
        _apply_share(word, share, after)
    elif after.type not in _REWARDS and after.source != imports.SOURCE:
        enqueue_missing_override(before)


def _apply_share(word: Adjustment, share: Conversion, parent: Conversion) -> None:
    assert share.rate_value is not None  # the recruiter's percentage
    commission_cents = adjust.override_commission(
        status=share.status,
        commission_cents=share.commission_cents,
        share_cents=override.share_cents(commission_cents=parent.commission_cents, percent=share.rate_value),
        paid_cents=adjust.gross_commission(max(share.paid_cents, 0), parent.amount_cents, parent.refunded_cents),
    )
    if commission_cents == share.commission_cents:
        return
    after = _apply(word, share, commission_cents, parent=parent)
    if after.net_commission_cents < share.net_commission_cents:
        take_back.take_back_if_named(share, share.net_commission_cents - after.net_commission_cents, now=word.at)
    else:
        take_back.give_back_if_named(after, now=word.at)


def _apply(word: Adjustment, before: Conversion, commission_cents: int, *, parent: Conversion) -> Conversion:
    """Stage one row's new commission with its refunds' shares, its history, the ledger and the event."""
    where = {"organization_id": before.organization_id, "conversion_id": before.id}
    changes = _reversal_changes(before, commission_cents, parent)
    reversal_cents = sum(cents for _, cents in changes)
    after = replace(before, commission_cents=commission_cents, reversed_cents=before.reversed_cents + reversal_cents)
    after = replace(after, status=_status(after))
    adjustments.stage_change(
        adjustments.CommissionChange(
            **where,
            id=word.id,
            previous_cents=before.commission_cents,
            commission_cents=commission_cents,
            reason=word.reason,
            note=word.note,
            created_at=word.at,
        )
    )
    adjustments.stage_reversals(**where, changes=changes)
    adjustments.stage_commission(
        **where, commission_cents=commission_cents, reversal_cents=reversal_cents, status=after.status
    )
    _stage_entries(word, before, commission_cents - before.commission_cents, reversal_cents)
    conversions.stage_history(
        [
            conversions.NewLine(
                **where,
                event_type="adjustment",
                amount_cents=0,
                commission_cents=after.net_commission_cents - before.net_commission_cents,
                occurred_at=word.at,
                **({} if before.parent_id else {"id": word.id}),
            )
        ]
    )
    emit.conversion_adjusted(before, after, reason=word.reason, at=word.at)
    return after


def _reversal_changes(before: Conversion, commission_cents: int, parent: Conversion) -> list[tuple[UUID, int]]:
    """Return how much more each refund takes of a row's new commission, also the one of a share by itself."""
    changes = adjust.reversal_changes(
        commission_cents=commission_cents,
        amount_cents=parent.amount_cents,
        refunds=reviews.reached(organization_id=before.organization_id, parent_id=parent.id, conversion_id=before.id),
    )
    own = refunds.own(before)
    if own is not None:
        target_cents = refund.target(
            commission_cents=commission_cents,
            amount_cents=parent.amount_cents,
            refunded_cents=parent.refunded_cents,
            is_full=own.is_full,
        )
        changes.append((own.id, target_cents - before.reversed_cents - sum(cents for _, cents in changes)))
    return changes


def _status(after: Conversion) -> str:
    """Return the status of a row with its new commission: a share is Paid exactly where that much of it was paid."""
    if after.parent_id is None or after.status not in (*UNPAID, ConversionStatus.Paid):
        return after.status
    return refund.restored_status(
        after.status, before=None, net_cents=after.net_commission_cents, paid_cents=after.paid_cents
    )


def _stage_entries(word: Adjustment, before: Conversion, more_cents: int, reversal_cents: int) -> None:
    """Stage the difference and what refunds take of it; they come to nothing for a row that earns nothing."""
    booked = {
        "adjust": reversal_cents if before.status in EARNS_NOTHING else more_cents,
        "reverse" if reversal_cents > 0 else "restore": -reversal_cents,
    }
    for kind, cents in booked.items():
        entries.stage(before, kind=kind, amount_cents=cents, cause_id=word.id, created_at=word.at)
