"""Books money that goes back of a gateway's payment or comes back to it, with the conversion that follows.

Payments of one order have one conversion, which follows what was paid and refunded of all of them.
"""

from dataclasses import replace

from domain.gateways import basis
from domain.refused import Refused
from models import turns
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
    turns.stage_no_run(desk.organization_id)
    conversion = refund.locked(desk.organization_id, payment.conversion_id)
    bring_to_refunds(desk, payment, conversion, reason)


def bring_to_refunds(desk: BookingDesk, payment: GatewayPayment, conversion: Conversion, reason: str | None) -> None:
    """Bring a locked conversion to what is refunded of its payments, of which `payment` is one.

    A conversion that grew is restored where its refunds are a smaller part of it than before.
    """
    others = orders.other_parts(payment)
    paid_cents = payment.paid_cents + others.paid_cents
    refunded_cents = payment.refunded_cents + others.refunded_cents
    target_cents = basis.refunded(
        amount_cents=conversion.amount_cents, paid_cents=paid_cents, refunded_cents=refunded_cents
    )
    more_cents = target_cents - conversion.refunded_cents
    is_whole = refunded_cents == paid_cents
    # Of a sale that counts nothing, only all or nothing can go back.
    is_to_end = conversion.amount_cents == 0 and is_whole and conversion.refunded_at is None
    is_to_begin = conversion.refunded_at is not None and not is_whole
    if more_cents < 0 or is_to_begin or restore.is_owed(conversion, target_cents):
        restore.of_conversion(conversion, target_cents, now=desk.now)
    elif more_cents > 0 or is_to_end:
        try:
            refund.of_conversion(conversion, more_cents or None, now=desk.now, reason=reason)
        except Refused as refused:
            raise AssertionError(f"{conversion.id}: {refused}") from refused  # what is asked for is what is left
