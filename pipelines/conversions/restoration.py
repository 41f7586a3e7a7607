"""Restorations: refunded money came back, or a brand undoes a refund; conversion and override earn it again.

Source: tracking spec, section 3 "States and transitions" and section 6, conversion.adjusted.
"""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from domain import jobs
from domain.conversions import refund
from domain.conversions.refund import RefundOrigin
from domain.gateways.names import Gateway
from domain.refusals import Refused
from domain.statuses import EARNS_NOTHING
from models import ids
from models.conversions import conversions, refunds, revenue
from models.conversions.conversions import Conversion
from models.conversions.refunds import Refund
from models.coupons import affiliate_coupons
from models.ledger import entries
from pipelines import work
from pipelines.conversions.review import ReviewedConversion
from pipelines.payouts import take_back
from pipelines.webhooks import emit

REASON = "refund_restored"

_GATEWAYS = tuple(gateway.value for gateway in Gateway)


def undo_brand_refunds(subject: ReviewedConversion, *, now: datetime) -> Conversion:
    """Undo the brand's refunds of a conversion that `review.lock` locked; return the conversion after it.

    All refunds that the brand booked are undone together, each once, but none that a gateway reported.
    Raises Refused 409 nothing_to_restore. Budget: as `restore_conversion`; 1 round trip more for an override.
    """
    conversion, parent = subject.conversion, subject.parent
    if parent is not None:
        own = refunds.find_own(conversion)
        if own is None or not own.is_full:
            raise _refusal("This share was not refunded by itself. Undo the refund of its sale instead.")
        if parent.refunded_at is not None:
            raise _refusal("The sale of this share is refunded in full. Undo that refund first.")
        return restore_conversion(conversion, 0, now=now, origin=RefundOrigin.brand, parent=parent)
    unreported_cents = conversion.unreported_cents
    if conversion.source not in _GATEWAYS and (conversion.refunded_cents or conversion.refunded_at):
        unreported_cents = conversion.refunded_cents
    if unreported_cents is None:
        raise _refusal("No refund that your team or your server booked is left to undo.")
    return restore_conversion(
        conversion, conversion.refunded_cents - unreported_cents, now=now, origin=RefundOrigin.brand
    )


def restore_conversion(
    conversion: Conversion,
    refunded_cents: int,
    *,
    now: datetime,
    unreported_cents: int | None = None,
    origin: RefundOrigin = RefundOrigin.gateway,
    parent: Conversion | None = None,
) -> Conversion:
    """Lower a conversion's refunded total to `refunded_cents`, and return the conversion after it.

    The conversion was locked as refunds lock it. Amounts are its minor units; `unreported_cents` is the part of the
    brand's refunds that the gateway has not reported. A job updates the override. `parent` is the sale of an override
    that was refunded by itself: the sale's remaining refunds still take their share of the override. Budget: 1 round
    trip (override and payout), the writes with it, and up to three more if it is in a payout.
    """
    organization_id, conversion_id = conversion.organization_id, conversion.id
    refund_row = Refund(
        id=ids.new_id(),
        amount_cents=refunded_cents - conversion.refunded_cents,
        cumulative_cents=refunded_cents,
        is_full=False,
        created_at=now,
        reason=REASON,
        is_restoration=True,
        origin=origin,
    )
    refunds.stage_refund(organization_id=organization_id, conversion_id=conversion_id, refund=refund_row)
    after = apply_to_row(
        replace(conversion, unreported_cents=unreported_cents),
        refund_row,
        parent_amount_cents=(parent or conversion).amount_cents,
        parent_refunded_cents=parent.refunded_cents if parent else refunded_cents,
        line_id=refund_row.id,
    )
    revenue.stage(conversion, amount_cents=-refund_row.amount_cents)
    if conversion.refunded_at is not None and conversion.affiliate_coupon_id is not None:
        affiliate_coupons.stage_count(organization_id=organization_id, code_id=conversion.affiliate_coupon_id, by=1)
    followers = conversions.find_dependents(organization_id=organization_id, conversion_id=conversion_id)
    if followers.is_in_payout:
        take_back.give_back_if_in_payout(after, now=now)
    if followers.has_override:
        work.enqueue(jobs.REFUND_CASCADE, organization_id=organization_id, conversion_id=conversion_id)
    return after


def is_over_reversed(conversion: Conversion, refunded_cents: int) -> bool:
    """Return whether more of a conversion is reversed than `refunded_cents` requires, as after an addition."""
    if conversion.status in EARNS_NOTHING or refunded_cents == conversion.amount_cents:
        return False
    owed_cents = -refund.compute_reversal_change(
        commission_cents=conversion.commission_cents,
        reversed_cents=conversion.reversed_cents,
        parent_amount_cents=conversion.amount_cents,
        parent_cumulative_cents=refunded_cents,
        parent_is_full=False,
        is_restoration=True,
    )
    return owed_cents > 0


def apply_to_row(
    conversion: Conversion,
    refund_row: Refund,
    *,
    parent_amount_cents: int,
    parent_refunded_cents: int,
    is_refunded_alone: bool = False,
    line_id: UUID | None = None,
) -> Conversion:
    """Stage the effect of a restoration on one row, parent or override, and return the row after it.

    The amounts are the sale's. A row that earns nothing gets nothing back until it earns again, and an override that
    was refunded by itself (`is_refunded_alone`) gets nothing back until that refund is undone. `line_id` is the id of
    the history line: the restoration's own for the row that was restored.
    """
    given_back_cents = 0
    if conversion.status not in EARNS_NOTHING and not is_refunded_alone:
        given_back_cents = -refund.compute_reversal_change(
            commission_cents=conversion.commission_cents,
            reversed_cents=conversion.reversed_cents,
            parent_amount_cents=parent_amount_cents,
            parent_cumulative_cents=parent_refunded_cents,
            parent_is_full=False,
            is_restoration=True,
        )
    reversed_cents = conversion.reversed_cents - given_back_cents
    after = conversion
    if not is_refunded_alone:
        after = replace(
            conversion,
            refunded_cents=0 if conversion.parent_id else refund_row.cumulative_cents,
            reversed_cents=reversed_cents,
            status=refund.restored_status(
                conversion.status,
                before=conversion.refunded_from,
                net_cents=conversion.commission_cents - reversed_cents,
                paid_cents=conversion.paid_cents,
                is_locked=conversion.payout_locked,
            ),
            refunded_at=None,
            refunded_from=None,
            restored_at=refund_row.created_at,
        )
    _stage(conversion, after, refund_row, given_back_cents, line_id)
    return after


def _refusal(message: str) -> Refused:
    return Refused(409, "nothing_to_restore", message)


def _stage(
    before: Conversion, after: Conversion, refund_row: Refund, given_back_cents: int, line_id: UUID | None
) -> None:
    """Stage the row, its reversal, history line, ledger entry and event."""
    key = {"organization_id": before.organization_id, "conversion_id": before.id}
    if after is not before:
        refunds.stage_restoration_effect(
            **key,
            refunded_cents=after.refunded_cents,
            given_back_cents=given_back_cents,
            status=after.status,
            at=refund_row.created_at,
            unreported_cents=after.unreported_cents,
        )
    refunds.stage_reversal(**key, refund_id=refund_row.id, commission_cents=-given_back_cents, at=refund_row.created_at)
    conversions.stage_history(
        [
            conversions.NewHistoryLine(
                **key,
                event_type="adjustment",
                amount_cents=before.refunded_cents - after.refunded_cents,
                commission_cents=given_back_cents,
                occurred_at=refund_row.created_at,
                id=line_id or ids.new_id(),
            )
        ]
    )
    entries.stage(
        before, kind="restore", amount_cents=given_back_cents, cause_id=refund_row.id, created_at=refund_row.created_at
    )
    emit.conversion_adjusted(before, after, reason=REASON, at=refund_row.created_at)
