"""Refunds of a conversion, and of the same fraction of its override.

A brand may refund a conversion of any source: by a signed refund with its external id, or by the conversion's id. A
gateway that reports the same money later takes nothing back a second time (decision 73).
Source: tracking spec, "Refund", section 3 "States and transitions" and section 6, conversion.refunded.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from domain import jobs, statuses
from domain.conversions import refund
from domain.conversions.refund import RefundOrigin
from domain.refusals import Refused
from domain.webhooks import events
from models import advisory_locks, ids
from models.conversions import conversions, refunds, revenue, searches
from models.conversions.conversions import Conversion
from models.coupons import affiliate_coupons
from models.ledger import entries
from pipelines import work
from pipelines.conversions import restoration, settlement
from pipelines.payouts import take_back
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class RefundResult:
    """The result of a refund; minor units of the conversion's currency."""

    conversion_id: UUID
    refunded_amount_cents: int
    cumulative_refunded_amount_cents: int
    is_full_refund: bool


def refund_by_external_id(
    *, organization_id: UUID, external_event_id: str, requested_cents: int | None, now: datetime
) -> RefundResult:
    """Refund a conversion by its external id; None refunds what remains. The totals returned are final.

    If several have the same id, the signed sale is refunded, else the gateway's, the import's, the manual one. A sale
    that is accepted and not settled yet is settled first, under its lock. A job updates the override.
    Raises Refused: 404 conversion_not_found; 422 refund_amount_invalid, already_fully_refunded,
    amount_exceeds_original.
    Budget: 5 round trips (find; is it settled; lock; who follows it; commit), with the writes on the fourth; one more
    to settle first, and one more if the conversion is in a payout.
    """
    conversion_id = searches.find_refundable(organization_id=organization_id, external_event_id=external_event_id)
    if conversion_id is None:
        raise Refused(404, "conversion_not_found", "No conversion of this organization has that externalEventId.")
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    settlement.settle_if_waiting(organization_id=organization_id, conversion_id=conversion_id, now=now)
    return refund_conversion(
        lock_conversion(organization_id, conversion_id), requested_cents, now=now, origin=RefundOrigin.brand
    )


def lock_conversion(organization_id: UUID, conversion_id: UUID) -> Conversion:
    """Return an existing conversion, locked; `stage_shared_payout_run_lock` comes first. Budget: 1 round trip."""
    conversion = conversions.lock(organization_id=organization_id, conversion_id=conversion_id)
    if conversion is None:
        raise LookupError(f"conversion {conversion_id} does not exist")
    return conversion


def refund_conversion(
    conversion: Conversion,
    requested_cents: int | None,
    *,
    now: datetime,
    unreported_cents: int | None = None,
    origin: RefundOrigin = RefundOrigin.gateway,
    reason: str | None = None,
    note: str | None = None,
) -> RefundResult:
    """Refund a locked conversion; None refunds what remains. A job updates the override.

    `stage_shared_payout_run_lock` was staged before the lock, and an override's sale is locked before the override.
    `reason`, such as chargeback, and `note` are stored with the refund; `unreported_cents` is the part of the brand's
    refunds that the gateway has not reported. Raises Refused: 422 refund_amount_invalid, already_fully_refunded,
    amount_exceeds_original. Budget: 1 round trip, and one more if it is in a payout.
    """
    organization_id, conversion_id = conversion.organization_id, conversion.id
    outcome = _decide(conversion, requested_cents)
    row = refunds.Refund(
        id=ids.new_id(),
        amount_cents=outcome.refund_cents,
        cumulative_cents=outcome.cumulative_cents,
        is_full=outcome.is_full,
        created_at=now,
        reason=reason,
        origin=origin,
        note=note,
    )
    refunds.stage_refund(organization_id=organization_id, conversion_id=conversion_id, refund=row)
    if origin == RefundOrigin.brand:
        unreported_cents = (conversion.unreported_cents or 0) + outcome.refund_cents
    _reverse(
        replace(conversion, unreported_cents=unreported_cents),
        row,
        reversal_cents=outcome.reversal_cents,
        status=outcome.status,
        line_id=row.id,
    )
    revenue.stage(conversion, amount_cents=-row.amount_cents)
    if outcome.is_full and conversion.affiliate_coupon_id is not None:
        affiliate_coupons.stage_count(organization_id=organization_id, code_id=conversion.affiliate_coupon_id, by=-1)
    followers = conversions.find_dependents(organization_id=organization_id, conversion_id=conversion_id)
    if followers.is_in_payout:
        take_back.take_back(conversion, outcome.reversal_cents, now=now)
    # An override that is not written yet needs no job: its own locks this parent first and applies the refund.
    if followers.has_override:
        work.enqueue(jobs.REFUND_CASCADE, organization_id=organization_id, conversion_id=conversion_id)
    return RefundResult(
        conversion_id=conversion_id,
        refunded_amount_cents=outcome.refund_cents,
        cumulative_refunded_amount_cents=outcome.cumulative_cents,
        is_full_refund=outcome.is_full,
    )


def refund_override(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> None:
    """Apply the refunds of a conversion to its override, one by one in their order, by the parent's fraction.

    Idempotent, and correct in any order: if it runs before the override is written, it does nothing, and the override's
    own job applies the refunds. Nothing is taken from an override that was paid out; if more was restored than refunded
    since, the override gets the difference back.
    Budget: 4 round trips (lock parent; lock override; refunds; payouts) and the writes with the commit.
    """
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    parent = conversions.lock(organization_id=organization_id, conversion_id=conversion_id)
    override = conversions.lock_override(organization_id=organization_id, parent_id=conversion_id)
    if parent is None or override is None or (_is_paid(override) and not _is_over_reversed(parent, override)):
        return
    own = refunds.find_own(override)
    after = override
    for row in refunds.list_not_cascaded(
        organization_id=organization_id, parent_id=conversion_id, override_id=override.id
    ):
        after = _apply_to_override(parent, after, row, is_refunded_alone=own is not None and own.is_full)
    if after.reversed_cents < override.reversed_cents:
        take_back.give_back_if_in_payout(after, now=now)
    else:
        take_back.take_back_if_in_payout(override, after.reversed_cents - override.reversed_cents, now=now)


def _decide(conversion: Conversion, requested_cents: int | None) -> refund.RefundOutcome:
    balance = refund.RefundBalance(
        amount_cents=conversion.amount_cents,
        commission_cents=conversion.commission_cents,
        refunded_cents=conversion.refunded_cents,
        reversed_cents=conversion.reversed_cents,
        status=conversion.status,
        is_refunded=conversion.refunded_at is not None,
        is_indivisible=conversion.type not in statuses.SALES,
    )
    try:
        return refund.apply(balance, requested_cents=requested_cents)
    except refund.RefundRefused as refused:
        raise Refused(422, refused.code, refused.message) from refused


def _is_paid(override: Conversion) -> bool:
    return override.status == statuses.ConversionStatus.Paid


def _is_over_reversed(parent: Conversion, override: Conversion) -> bool:
    """Return whether more of an override is reversed than the current refunds of its parent require."""
    owed_cents = refund.compute_reversal_change(
        commission_cents=override.commission_cents,
        reversed_cents=override.reversed_cents,
        parent_amount_cents=parent.amount_cents,
        parent_cumulative_cents=parent.refunded_cents,
        parent_is_full=parent.refunded_at is not None,
        is_restoration=True,
    )
    return owed_cents < 0


def _apply_to_override(
    parent: Conversion, override: Conversion, row: refunds.Refund, *, is_refunded_alone: bool
) -> Conversion:
    """Stage the effect of a refund or restoration of the parent on its override; return the override after it.

    An override that was refunded by itself (`is_refunded_alone`) gets nothing back.
    """
    if row.is_restoration:
        return restoration.apply_to_row(
            override,
            row,
            parent_amount_cents=parent.amount_cents,
            parent_refunded_cents=row.cumulative_cents,
            is_refunded_alone=is_refunded_alone,
        )
    reversal_cents, status = 0, override.status
    if status not in statuses.EARNS_NOTHING:
        reversal_cents = refund.compute_override_reversal(
            commission_cents=override.commission_cents,
            reversed_cents=override.reversed_cents,
            parent_amount_cents=parent.amount_cents,
            parent_cumulative_cents=row.cumulative_cents,
            parent_is_full=row.is_full,
        )
        status = statuses.ConversionStatus.Refunded.value if row.is_full else status
        if override.paid_cents > 0 and override.status != statuses.ConversionStatus.Refunded:
            # Its commission grew after it was paid out, or a refund was restored: the paid amount stays.
            reversal_cents = min(reversal_cents, max(override.net_commission_cents - override.paid_cents, 0))
            is_left = override.net_commission_cents - reversal_cents > override.paid_cents
            status = override.status if is_left else statuses.ConversionStatus.Paid.value
    _reverse(override, row, reversal_cents=reversal_cents, status=status)
    is_ended = status == statuses.ConversionStatus.Refunded != override.status
    return replace(
        override,
        reversed_cents=override.reversed_cents + reversal_cents,
        status=status,
        refunded_from=override.status if is_ended else override.refunded_from,
    )


def _reverse(
    conversion: Conversion, row: refunds.Refund, *, reversal_cents: int, status: str, line_id: UUID | None = None
) -> None:
    """Stage the effect of a refund on one row, parent or override: the row, its history, the ledger and the event.

    `conversion` has the new unreported amount. `line_id` is the id of the history line: the refund's own for the row
    that was refunded.
    """
    is_override = conversion.parent_id is not None
    organization_id = conversion.organization_id
    refunds.stage_refund_effect(
        organization_id=organization_id,
        conversion_id=conversion.id,
        refunded_cents=0 if is_override else row.cumulative_cents,
        reversal_cents=reversal_cents,
        status=status,
        refunded_at=row.created_at if row.is_full and status != statuses.ConversionStatus.Paid else None,
        unreported_cents=None if is_override else conversion.unreported_cents,
    )
    refunds.stage_reversal(
        organization_id=organization_id,
        refund_id=row.id,
        conversion_id=conversion.id,
        commission_cents=reversal_cents,
        at=row.created_at,
    )
    conversions.stage_history(
        [
            conversions.NewHistoryLine(
                organization_id=organization_id,
                conversion_id=conversion.id,
                event_type="refund",
                amount_cents=0 if is_override else -row.amount_cents,
                commission_cents=-reversal_cents,
                occurred_at=row.created_at,
                id=line_id or ids.new_id(),
            )
        ]
    )
    entries.stage(conversion, kind="reverse", amount_cents=-reversal_cents, cause_id=row.id, created_at=row.created_at)
    _stage_refunded_event(conversion, row, reversal_cents)


def _stage_refunded_event(conversion: Conversion, row: refunds.Refund, reversal_cents: int) -> None:
    emit.event(
        organization_id=conversion.organization_id,
        type="conversion.refunded",
        data=events.conversion_refunded(
            conversion_id=conversion.id,
            affiliate_id=conversion.affiliate_id,
            program_id=conversion.program_id,
            refunded_amount_cents=row.amount_cents,
            commission_reversed_cents=reversal_cents,
            cumulative_refunded_amount_cents=row.cumulative_cents,
            is_full_refund=row.is_full,
            currency=conversion.currency,
            refunded_at=row.created_at,
            attribution_method=conversion.attribution_method,
            parent_affiliate_conversion_id=conversion.parent_id,
        ),
        at=row.created_at,
    )
