"""A conversion whose amount goes up after its first payment: the row, its override, the ledger, revenue and event.

Used for a further payment of an order and for a higher total of it. In any status the added amount is earned once: of a
Paid conversion the rest is due in the next run; one that earns nothing gets it when it earns again.

Source: tracking spec, section 3 "Override conversion" and section 6, conversion.adjusted.
"""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from domain.conversions import growth, override
from domain.conversions.growth import EarnedAmount
from domain.statuses import EARNS_NOTHING
from models.conversions import conversions, refunds, revenue
from models.conversions.changes import additions, adjustments
from models.conversions.changes.additions import Addition
from models.conversions.conversions import Conversion
from models.ledger import entries
from pipelines.conversions.override import enqueue_missing_override
from pipelines.webhooks import emit

#: Why a conversion.adjusted event is sent: another payment of the order, or a higher total.
FURTHER_PAYMENT, HIGHER_TOTAL = "further_payment", "total_raised"


def add(conversion: Conversion, amount_cents: int, *, payment_id: UUID | None, now: datetime) -> Conversion:
    """Add an amount to a conversion that was locked as refunds lock it; return the conversion after it.

    `payment_id` is the gateway's added payment, None for a higher total. The override is locked and updated in the same
    transaction. Refunds of the conversion keep their amounts.
    Budget: 1 round trip (override), the writes with the next statement or the commit.
    """
    after = _add_amount(conversion, amount_cents)
    addition = Addition(
        organization_id=conversion.organization_id,
        conversion_id=conversion.id,
        payment_id=payment_id,
        amount_cents=amount_cents,
        commission_cents=after.commission_cents - conversion.commission_cents,
        created_at=now,
    )
    additions.stage(addition, status=after.status)
    revenue.stage(conversion, amount_cents=amount_cents)
    _stage_consequences(conversion, after, addition)
    _update_override(conversion, after, addition)
    return after


def _add_amount(conversion: Conversion, amount_cents: int) -> Conversion:
    before = EarnedAmount(
        amount_cents=conversion.amount_cents,
        commission_cents=conversion.commission_cents,
        currency=conversion.currency,
        rate_type=conversion.rate_type,
        rate_value=conversion.rate_value,
    )
    amount_after = conversion.amount_cents + amount_cents
    return _with_amounts(conversion, amount_after, growth.commission_at(before, amount_cents=amount_after))


def _with_amounts(conversion: Conversion, amount_cents: int, commission_cents: int) -> Conversion:
    net_cents = commission_cents - conversion.reversed_cents
    status = growth.status_of(conversion.status, net_cents=net_cents, paid_cents=conversion.paid_cents)
    return replace(conversion, amount_cents=amount_cents, commission_cents=commission_cents, status=status)


def _update_override(before: Conversion, after: Conversion, addition: Addition) -> None:
    """Raise the override to its share of the new commission; queue its creation if the share was zero before.

    An override above its share, paid before its sale's commission was lowered, stays unchanged. An override
    that was refunded by itself gets no part of the addition.
    """
    if not addition.commission_cents:
        return
    row = conversions.lock_override(organization_id=before.organization_id, parent_id=before.id)
    if row is None:
        enqueue_missing_override(before)
        return
    assert row.rate_value is not None  # an override row is a percentage of its sale
    share_cents = override.share_cents(commission_cents=after.commission_cents, percent=row.rate_value)
    more_cents = share_cents - row.commission_cents
    if more_cents <= 0:
        return
    grown = _with_amounts(row, row.amount_cents, share_cents)
    own = refunds.find_own(row)
    reversal_cents = more_cents if own is not None and own.is_full and row.status not in EARNS_NOTHING else 0
    if own is not None and reversal_cents:
        grown = replace(grown, reversed_cents=row.reversed_cents + reversal_cents)
        adjustments.stage_reversals(
            organization_id=row.organization_id, conversion_id=row.id, changes=[(own.id, reversal_cents)]
        )
    adjustments.stage_commission(
        organization_id=row.organization_id,
        conversion_id=row.id,
        commission_cents=share_cents,
        reversal_cents=reversal_cents,
        status=grown.status,
    )
    _stage_consequences(row, grown, addition)
    entries.stage(
        row, kind="reverse", amount_cents=-reversal_cents, cause_id=addition.id, created_at=addition.created_at
    )


def _stage_consequences(before: Conversion, after: Conversion, addition: Addition) -> None:
    """Stage the history line, ledger entries and event of an addition to one row, sale or override."""
    amount_cents = after.amount_cents - before.amount_cents
    commission_cents = after.commission_cents - before.commission_cents
    conversions.stage_history(
        [
            conversions.NewHistoryLine(
                organization_id=before.organization_id,
                conversion_id=before.id,
                event_type="adjustment",
                amount_cents=amount_cents,
                commission_cents=after.net_commission_cents - before.net_commission_cents,
                occurred_at=addition.created_at,
            )
        ]
    )
    _stage_ledger(before, commission_cents, addition)
    emit.conversion_adjusted(
        before, after, reason=FURTHER_PAYMENT if addition.payment_id else HIGHER_TOTAL, at=addition.created_at
    )


def _stage_ledger(row: Conversion, commission_cents: int, addition: Addition) -> None:
    """Stage the earned amount; a row that earns nothing gives it back at once, as a review did with the rest.

    An override created while it earned nothing has no "earn" entry: a review adjusts its whole amount.
    """
    is_earning = row.status not in EARNS_NOTHING
    is_booked = row.parent_id is None or additions.is_in_ledger(
        organization_id=row.organization_id, conversion_id=row.id
    )
    changes = [("earn", commission_cents)] if is_booked else []
    if is_booked != is_earning:
        changes.append(("adjust", -commission_cents if is_booked else commission_cents))
    entries.stage_all(
        [
            entries.build(row, kind=kind, amount_cents=cents, cause_id=addition.id, created_at=addition.created_at)
            for kind, cents in changes
        ]
    )
