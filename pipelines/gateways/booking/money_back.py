"""Books money that goes back of a gateway's payment or comes back to it, with the conversion that follows.

Payments of one order have one conversion, which follows what was paid and refunded of all of them.
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
from pipelines.conversions import refund, restore
from pipelines.gateways.booking.desk import BookingDesk


def take_back(
    desk: BookingDesk, payment: GatewayPayment, cents: int, *, refund_id: str, reason: str | None
) -> GatewayPayment:
    """Book that so much of a locked payment went back under a refund's id; return the payment as it is then."""
    refunds.stage(payment, refund_id=refund_id, cents=cents, now=desk.now)
    after = replace(payment, refunded_cents=payment.refunded_cents + cents)
    follow(desk, after, reason)
    return after


def give_back(desk: BookingDesk, payment: GatewayPayment, cents: int, *, refund_id: str | None) -> GatewayPayment:
    """Book that so much came back to a locked payment, of one refund or (None) the newest; return it as it is then."""
    refunds.stage_restored(payment, refund_id=refund_id, cents=cents, now=desk.now)
    after = replace(payment, refunded_cents=payment.refunded_cents - cents)
    follow(desk, after, None)
    return after


def follow(desk: BookingDesk, payment: GatewayPayment, reason: str | None) -> None:
    """Bring a payment's conversion to what is refunded of its payments, up or down."""
    if payment.conversion_id is None:
        return
    advisory_locks.stage_shared_payout_run_lock(desk.organization_id)
    conversion = refund.locked(desk.organization_id, payment.conversion_id)
    bring_to_refunds(desk, payment, conversion, reason)


def bring_to_refunds(
    desk: BookingDesk,
    payment: GatewayPayment,
    conversion: Conversion,
    reason: str | None,
    *,
    known_cents: int | None = None,
) -> None:
    """Bring a locked conversion to what is refunded of its payments, of which `payment` is one.

    What the brand refunded and the gateway reports now is the same money: it is not taken back again (decision 73).
    A conversion that grew is restored where its refunds are a smaller part of it than before; of its payments
    `known_cents` were refunded, gross, before it grew.
    """
    others = orders.other_parts(payment)
    paid_cents = payment.paid_cents + others.paid_cents
    refunded_cents = payment.refunded_cents + others.refunded_cents
    before = RefundedParts(conversion.refunded_cents, conversion.unreported_cents)
    is_whole = refunded_cents == paid_cents
    if conversion.amount_cents == 0:
        # Of a sale that counts nothing, only all or nothing can go back.
        after = RefundedParts(0, None if is_whole else conversion.unreported_cents)
        is_to_end = is_whole and conversion.refunded_at is None
        is_to_begin = not is_whole and conversion.refunded_at is not None and conversion.unreported_cents is None
    else:
        reported_cents = basis.refunded_sale_cents(
            amount_cents=conversion.amount_cents, paid_cents=paid_cents, refunded_cents=refunded_cents
        )
        known = before
        if known_cents is not None:
            known = basis.with_grown_amount(
                before,
                amount_cents=conversion.amount_cents,
                reported_cents=basis.refunded_sale_cents(
                    amount_cents=conversion.amount_cents, paid_cents=paid_cents, refunded_cents=known_cents
                ),
            )
        after = basis.with_gateway_refunds(known, reported_cents=reported_cents)
        is_to_end = after.refunded_cents > before.refunded_cents
        is_undone = conversion.refunded_at is not None and after.refunded_cents < conversion.amount_cents
        is_to_begin = after.refunded_cents < before.refunded_cents or (not is_to_end and is_undone)
    if is_to_begin or (not is_to_end and restore.is_owed(conversion, after.refunded_cents)):
        restore.of_conversion(conversion, after.refunded_cents, unreported_cents=after.unreported_cents, now=desk.now)
    elif is_to_end:
        _refund(desk, conversion, after, reason)
    elif after != before:
        conversion_refunds.stage_unreported(conversion, after.unreported_cents)


def _refund(desk: BookingDesk, conversion: Conversion, after: RefundedParts, reason: str | None) -> None:
    more_cents = after.refunded_cents - conversion.refunded_cents or None
    try:
        refund.of_conversion(
            conversion, more_cents, unreported_cents=after.unreported_cents, now=desk.now, reason=reason
        )
    except Refused as refused:
        raise AssertionError(f"{conversion.id}: {refused}") from refused  # what is asked for is what is left
