"""Books refunded and returned money of a gateway's payment, and updates its conversion.

Payments of one order have one conversion: its amounts are those paid and refunded of all of them.
"""

from dataclasses import replace

from domain.gateways import basis
from domain.gateways.basis import RefundedParts
from domain.refusals import Refused
from models import advisory_locks
from models.conversions import refunds as conversion_refunds
from models.conversions.conversions import Conversion
from models.gateways import orders, refunds
from models.gateways.payments import GatewayPayment
from pipelines.conversions import refund, restoration
from pipelines.gateways.booking.context import BookingContext


def take_back(
    context: BookingContext, payment: GatewayPayment, cents: int, *, refund_id: str, reason: str | None
) -> GatewayPayment:
    """Book a refund of a locked payment under the refund's id; return the updated payment."""
    refunds.stage(payment, refund_id=refund_id, cents=cents, now=context.now)
    after = replace(payment, refunded_cents=payment.refunded_cents + cents)
    update_conversion(context, after, reason)
    return after


def give_back(context: BookingContext, payment: GatewayPayment, cents: int, *, refund_id: str | None) -> GatewayPayment:
    """Book money returned to a locked payment, of one refund or (None) the newest; return the updated payment."""
    refunds.stage_restored(payment, refund_id=refund_id, cents=cents, now=context.now)
    after = replace(payment, refunded_cents=payment.refunded_cents - cents)
    update_conversion(context, after, None)
    return after


def update_conversion(context: BookingContext, payment: GatewayPayment, reason: str | None) -> None:
    """Update a payment's conversion to the refunds of its payments, up or down."""
    if payment.conversion_id is None:
        return
    advisory_locks.stage_shared_payout_run_lock(context.organization_id)
    conversion = refund.lock_conversion(context.organization_id, payment.conversion_id)
    apply_refunds(context, payment, conversion, reason)


def apply_refunds(
    context: BookingContext,
    payment: GatewayPayment,
    conversion: Conversion,
    reason: str | None,
    *,
    known_cents: int | None = None,
) -> None:
    """Update a locked conversion to the refunds of its payments, of which `payment` is one.

    A refund by the brand that the gateway reports now is the same money: it is not taken back again (decision 73).
    A conversion that grew is restored where its refunds are a smaller part of it than before; `known_cents` of its
    payments were refunded, gross, before it grew.
    """
    others = orders.sum_other_payments(payment)
    paid_cents = payment.paid_cents + others.paid_cents
    refunded_cents = payment.refunded_cents + others.refunded_cents
    before = RefundedParts(conversion.refunded_cents, conversion.unreported_cents)
    is_whole = refunded_cents == paid_cents
    if conversion.amount_cents == 0:
        # A sale that counts nothing can only be refunded as a whole.
        after = RefundedParts(0, None if is_whole else conversion.unreported_cents)
        is_to_end = is_whole and conversion.refunded_at is None
        is_to_begin = not is_whole and conversion.refunded_at is not None and conversion.unreported_cents is None
    else:
        reported_cents = basis.refunded_sale_cents(
            amount_cents=conversion.amount_cents, paid_cents=paid_cents, refunded_cents=refunded_cents
        )
        current = before
        if known_cents is not None:
            current = basis.with_grown_amount(
                before,
                amount_cents=conversion.amount_cents,
                reported_cents=basis.refunded_sale_cents(
                    amount_cents=conversion.amount_cents, paid_cents=paid_cents, refunded_cents=known_cents
                ),
            )
        after = basis.with_gateway_refunds(current, reported_cents=reported_cents)
        is_to_end = after.refunded_cents > before.refunded_cents
        is_undone = conversion.refunded_at is not None and after.refunded_cents < conversion.amount_cents
        is_to_begin = after.refunded_cents < before.refunded_cents or (not is_to_end and is_undone)
    if is_to_begin or (not is_to_end and restoration.is_over_reversed(conversion, after.refunded_cents)):
        restoration.restore_conversion(
            conversion, after.refunded_cents, unreported_cents=after.unreported_cents, now=context.now
        )
    elif is_to_end:
        _refund(context, conversion, after, reason)
    elif after != before:
        conversion_refunds.stage_unreported_cents(conversion, after.unreported_cents)


def _refund(context: BookingContext, conversion: Conversion, after: RefundedParts, reason: str | None) -> None:
    more_cents = after.refunded_cents - conversion.refunded_cents or None
    try:
        refund.refund_conversion(
            conversion, more_cents, unreported_cents=after.unreported_cents, now=context.now, reason=reason
        )
    except Refused as refused:
        raise AssertionError(f"{conversion.id}: {refused}") from refused  # the amount is what is left to refund
