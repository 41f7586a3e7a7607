"""Money that goes back: refunds and disputes, each counted once, by whichever id of its payment it names.

Source: tracking spec, "Refund", section 3 "States and transitions" and "Coupon codes" (refund events).
"""

from dataclasses import replace

from domain.gateways import basis
from domain.gateways.facts import DisputeFact, DisputeState, RefundFact, RestoredFact
from domain.refused import Refused
from models.gateways import disputes, refunds
from models.gateways.payments import GatewayPayment
from pipelines.conversions import dispute, refund
from pipelines.gateways.desk import Booking, BookingDesk


def refunded(desk: BookingDesk, told: RefundFact) -> Booking:
    """Book a refund by its id, a cumulative one as far as it exceeds what is booked; it waits for its payment.

    Budget: 4 round trips (turns and payment; what is booked; conversion; who follows it), the writes with the last.
    """
    desk.stage_turns([*told.sale_ids, told.refund_id])
    payment = desk.known(told.sale_ids)
    if payment is None:
        return desk.park(told.sale_ids)
    is_new = _book(desk, payment, told)
    return Booking(reason=payment.reason if is_new else "known", conversion_id=payment.conversion_id)


def _book(desk: BookingDesk, payment: GatewayPayment, told: RefundFact) -> bool:
    """Book what of a refund is not booked yet; False where that is nothing."""
    more_cents = _more_cents(payment, told)
    if more_cents <= 0:
        return False
    refunds.stage(payment, refund_id=told.refund_id, cents=more_cents, now=desk.now)
    if payment.conversion_id is not None:
        _take_back(desk, replace(payment, refunded_cents=payment.refunded_cents + more_cents), told.reason)
    return True


def _more_cents(payment: GatewayPayment, told: RefundFact) -> int:
    """Return what goes back now, gross: never more than is left of what was paid."""
    left = payment.paid_cents - payment.refunded_cents
    if told.amount_cents is None:
        return left
    booked = refunds.booked_cents(payment, refund_id=told.refund_id)
    if told.is_cumulative:
        return min(told.amount_cents - (booked or 0), left)
    return min(told.amount_cents, left) if booked is None else 0


def _take_back(desk: BookingDesk, payment: GatewayPayment, reason: str | None) -> None:
    """Bring a conversion to what went back of its payment in all."""
    assert payment.conversion_id is not None  # the caller saw to it
    conversion = refund.locked(desk.organization_id, payment.conversion_id)
    target_cents = basis.refunded(
        amount_cents=conversion.amount_cents,
        paid_cents=payment.paid_cents,
        refunded_cents=payment.refunded_cents,
    )
    requested_cents = target_cents - conversion.refunded_cents
    if requested_cents <= 0:
        return
    try:
        refund.of_conversion(conversion, requested_cents, now=desk.now, reason=reason)
    except Refused as refused:
        raise AssertionError(f"{conversion.id}: {refused}") from refused  # what is asked for is what is left


def restored(desk: BookingDesk, told: RestoredFact) -> Booking:
    """Undo a refund whose money came back."""
    desk.stage_turns(told.sale_ids)
    return desk.park(told.sale_ids)


def disputed(desk: BookingDesk, told: DisputeFact) -> Booking:
    """Hold a disputed conversion, reverse what remains of it when the dispute is lost, let it go when it is won.

    A dispute that is decided is not opened again by what comes late; one that is lost may still be won.
    """
    desk.stage_turns([*told.sale_ids, told.dispute_id])
    payment = desk.known(told.sale_ids)
    if payment is None:
        return desk.park(told.sale_ids)
    before = disputes.state(payment, dispute_id=told.dispute_id)
    if before == told.state or (before is not None and told.state == DisputeState.Opened):
        return Booking(reason="known", conversion_id=payment.conversion_id)
    disputes.stage(payment, dispute_id=told.dispute_id, state=told.state.value, at=told.at)
    if told.state == DisputeState.Lost:
        _book(desk, payment, _lost(told))
    if payment.conversion_id is not None:
        is_held = told.state == DisputeState.Opened or disputes.has_other_open(payment, dispute_id=told.dispute_id)
        act = dispute.hold if is_held else dispute.release
        act(organization_id=desk.organization_id, conversion_id=payment.conversion_id, now=desk.now)
    return Booking(reason=payment.reason, conversion_id=payment.conversion_id)


def _lost(told: DisputeFact) -> RefundFact:
    return RefundFact(
        refund_id=f"dispute:{told.dispute_id}",
        sale_ids=told.sale_ids,
        amount_cents=None,
        currency=None,
        refunded_at=told.at,
        reason="chargeback",
    )
