"""Refunds: what a parent conversion gives back, and the same fraction of its override.

A brand may refund any conversion, whichever source brought it: by a signed refund that names its external id, or by
the conversion's id. A gateway that reports the same money later takes nothing back a second time (decision 73).
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
from pipelines.conversions import restore, settle
from pipelines.payouts import take_back
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class Refunded:
    """What a refund did; minor units of the conversion's currency."""

    conversion_id: UUID
    refunded_amount_cents: int
    cumulative_refunded_amount_cents: int
    is_full_refund: bool


def apply(*, organization_id: UUID, external_event_id: str, requested_cents: int | None, now: datetime) -> Refunded:
    """Refund a conversion by its external id; None asks for what remains. The totals returned are final.

    Of several with the same id the signed sale is meant, then the one of a gateway, of an import, of a person. A sale
    that is accepted and not settled yet is settled first, under its lock. The override follows in a job.
    Raises Refused: 404 conversion_not_found; 422 refund_amount_invalid, already_fully_refunded,
    amount_exceeds_original.
    Budget: 5 round trips (find; is it settled; lock; who follows it; commit), with the writes on the fourth; one more
    to settle first, and one more when a payout names the conversion.
    """
    conversion_id = searches.find_refundable(organization_id=organization_id, external_event_id=external_event_id)
    if conversion_id is None:
        raise Refused(404, "conversion_not_found", "No conversion of this organization has that externalEventId.")
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    settle.if_waiting(organization_id=organization_id, conversion_id=conversion_id, now=now)
    return of_conversion(locked(organization_id, conversion_id), requested_cents, now=now, origin=RefundOrigin.brand)


def locked(organization_id: UUID, conversion_id: UUID) -> Conversion:
    """Return a conversion that is there, locked; `stage_shared_payout_run_lock` comes first. Budget: 1 round trip."""
    conversion = conversions.lock(organization_id=organization_id, conversion_id=conversion_id)
    if conversion is None:
        raise LookupError(f"conversion {conversion_id} is not there")
    return conversion


def of_conversion(
    conversion: Conversion,
    requested_cents: int | None,
    *,
    now: datetime,
    unreported_cents: int | None = None,
    origin: RefundOrigin = RefundOrigin.gateway,
    reason: str | None = None,
    note: str | None = None,
) -> Refunded:
    """Refund a locked conversion; None asks for what remains. Its override follows in a job.

    `stage_shared_payout_run_lock` was staged before the lock, and an override's sale is locked before the override.
    `reason`, such as chargeback, and `note` are stored with the refund; `unreported_cents` is what a gateway's report
    leaves of the brand's refunds. Raises Refused: 422 refund_amount_invalid, already_fully_refunded,
    amount_exceeds_original. Budget: 1 round trip, and one more when a payout names it.
    """
    organization_id, conversion_id = conversion.organization_id, conversion.id
    outcome = _decide(conversion, requested_cents)
    record = refunds.Refund(
        id=ids.new_id(),
        amount_cents=outcome.refund_cents,
        cumulative_cents=outcome.cumulative_cents,
        is_full=outcome.is_full,
        created_at=now,
        reason=reason,
        origin=origin,
        note=note,
    )
    refunds.stage_refund(organization_id=organization_id, conversion_id=conversion_id, refund=record)
    if origin == RefundOrigin.brand:
        unreported_cents = (conversion.unreported_cents or 0) + outcome.refund_cents
    _reverse(
        replace(conversion, unreported_cents=unreported_cents),
        record,
        reversal_cents=outcome.reversal_cents,
        status=outcome.status,
        line_id=record.id,
    )
    revenue.stage(conversion, amount_cents=-record.amount_cents)
    if outcome.is_full and conversion.affiliate_coupon_id is not None:
        affiliate_coupons.stage_count(organization_id=organization_id, code_id=conversion.affiliate_coupon_id, by=-1)
    followers = conversions.followers(organization_id=organization_id, conversion_id=conversion_id)
    if followers.is_in_payout:
        take_back.take_back(conversion, outcome.reversal_cents, now=now)
    # An override that is not written yet catches up by itself: its job locks this parent first.
    if followers.has_override:
        work.enqueue(jobs.REFUND_CASCADE, organization_id=organization_id, conversion_id=conversion_id)
    return Refunded(
        conversion_id=conversion_id,
        refunded_amount_cents=outcome.refund_cents,
        cumulative_refunded_amount_cents=outcome.cumulative_cents,
        is_full_refund=outcome.is_full,
    )


def cascade(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> None:
    """Bring the override of a refunded conversion to the parent's fraction, refund by refund, in their order.

    Idempotent, and right in any order: a cascade that runs before the override is written does nothing, and the
    override's own job applies what it missed. From an override that was paid out nothing is taken; where more came back
    than went since, it is given that.
    Budget: 4 round trips (lock parent; lock override; refunds; payouts) and the writes with the commit.
    """
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    parent = conversions.lock(organization_id=organization_id, conversion_id=conversion_id)
    override = conversions.lock_override(organization_id=organization_id, parent_id=conversion_id)
    if parent is None or override is None or (_is_paid(override) and not _is_owed(parent, override)):
        return
    own = refunds.own(override)
    after = override
    for record in refunds.not_cascaded(
        organization_id=organization_id, parent_id=conversion_id, override_id=override.id
    ):
        after = _cascaded(parent, after, record, is_refunded_alone=own is not None and own.is_full)
    if after.reversed_cents < override.reversed_cents:
        take_back.give_back_if_named(after, now=now)
    else:
        take_back.take_back_if_named(override, after.reversed_cents - override.reversed_cents, now=now)


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


def _is_owed(parent: Conversion, override: Conversion) -> bool:
    """Say whether more of an override is reversed than the refunds of its parent that stand call for."""
    owed_cents = refund.change(
        commission_cents=override.commission_cents,
        reversed_cents=override.reversed_cents,
        parent_amount_cents=parent.amount_cents,
        parent_cumulative_cents=parent.refunded_cents,
        parent_is_full=parent.refunded_at is not None,
        is_restoration=True,
    )
    return owed_cents < 0


def _cascaded(
    parent: Conversion, override: Conversion, record: refunds.Refund, *, is_refunded_alone: bool
) -> Conversion:
    """Stage what a refund of the parent, or a restoration, does to its override; return the override as it is then.

    One that was refunded by itself (`is_refunded_alone`) is given nothing back.
    """
    if record.is_restoration:
        return restore.follow(
            override,
            record,
            parent_amount_cents=parent.amount_cents,
            parent_refunded_cents=record.cumulative_cents,
            is_refunded_alone=is_refunded_alone,
        )
    reversal_cents, status = 0, override.status
    if status not in statuses.EARNS_NOTHING:
        reversal_cents = refund.cascade(
            commission_cents=override.commission_cents,
            reversed_cents=override.reversed_cents,
            parent_amount_cents=parent.amount_cents,
            parent_cumulative_cents=record.cumulative_cents,
            parent_is_full=record.is_full,
        )
        status = statuses.ConversionStatus.Refunded.value if record.is_full else status
        if override.paid_cents > 0 and override.status != statuses.ConversionStatus.Refunded:
            # It grew after it was paid out, or more came back: what was paid stays.
            reversal_cents = min(reversal_cents, max(override.net_commission_cents - override.paid_cents, 0))
            is_left = override.net_commission_cents - reversal_cents > override.paid_cents
            status = override.status if is_left else statuses.ConversionStatus.Paid.value
    _reverse(override, record, reversal_cents=reversal_cents, status=status)
    is_ended = status == statuses.ConversionStatus.Refunded != override.status
    return replace(
        override,
        reversed_cents=override.reversed_cents + reversal_cents,
        status=status,
        refunded_from=override.status if is_ended else override.refunded_from,
    )


def _reverse(
    conversion: Conversion, record: refunds.Refund, *, reversal_cents: int, status: str, line_id: UUID | None = None
) -> None:
    """Stage what a refund does to one row, parent or override: the row, its history, the ledger and the event.

    `conversion` says what stays unreported. `line_id` is the id of the line of history: the refund's own where the row
    is the one that was refunded.
    """
    is_override = conversion.parent_id is not None
    organization_id = conversion.organization_id
    refunds.stage_refunded(
        organization_id=organization_id,
        conversion_id=conversion.id,
        refunded_cents=0 if is_override else record.cumulative_cents,
        reversal_cents=reversal_cents,
        status=status,
        refunded_at=record.created_at if record.is_full and status != statuses.ConversionStatus.Paid else None,
        unreported_cents=None if is_override else conversion.unreported_cents,
    )
    refunds.stage_reversal(
        organization_id=organization_id,
        refund_id=record.id,
        conversion_id=conversion.id,
        commission_cents=reversal_cents,
        at=record.created_at,
    )
    conversions.stage_history(
        [
            conversions.NewLine(
                organization_id=organization_id,
                conversion_id=conversion.id,
                event_type="refund",
                amount_cents=0 if is_override else -record.amount_cents,
                commission_cents=-reversal_cents,
                occurred_at=record.created_at,
                id=line_id or ids.new_id(),
            )
        ]
    )
    entries.stage(
        conversion, kind="reverse", amount_cents=-reversal_cents, cause_id=record.id, created_at=record.created_at
    )
    _stage_refunded_event(conversion, record, reversal_cents)


def _stage_refunded_event(conversion: Conversion, record: refunds.Refund, reversal_cents: int) -> None:
    emit.event(
        organization_id=conversion.organization_id,
        type="conversion.refunded",
        data=events.conversion_refunded(
            conversion_id=conversion.id,
            affiliate_id=conversion.affiliate_id,
            program_id=conversion.program_id,
            refunded_amount_cents=record.amount_cents,
            commission_reversed_cents=reversal_cents,
            cumulative_refunded_amount_cents=record.cumulative_cents,
            is_full_refund=record.is_full,
            currency=conversion.currency,
            refunded_at=record.created_at,
            attribution_method=conversion.attribution_method,
            parent_affiliate_conversion_id=conversion.parent_id,
        ),
        at=record.created_at,
    )
