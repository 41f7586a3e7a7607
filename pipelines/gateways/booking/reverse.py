"""Money that goes back and comes back: refunds and disputes, each once, by whichever id of its payment it names.

Source: tracking spec, "Refund", section 3 "States and transitions" and "Coupon codes" (refund events).
"""

from dataclasses import replace

from domain.gateways import reversals
from domain.gateways.facts import DisputeFact, DisputeState, RefundFact, RestoredFact
from domain.gateways.states import EventStatus
from models.gateways import disputes, refunds
from models.gateways.payments import GatewayPayment
from models.gateways.refunds import BookedRefunds
from pipelines.conversions import dispute
from pipelines.gateways.booking import money_back, totals
from pipelines.gateways.booking.desk import NO_REFUND, Booking, BookingDesk


def refunded(desk: BookingDesk, told: RefundFact) -> Booking:
    """Book a refund by its id, a cumulative one as far as it exceeds what is booked; it waits for its payment.

    What was told before the gateway was asked again, because money had come back, counts as far as it said then.
    Budget: 5 round trips (payment; what is booked; conversion; who follows it; what waited for this refund),
    the writes with the last.
    """
    payment = desk.known(told.sale_ids)
    if payment is None:
        return desk.park(told.sale_ids)
    if told.currency not in (None, payment.currency):
        return Booking(EventStatus.Parked, "refund_currency_differs")  # its figure is of other money: a person decides
    booked = refunds.sum_booked(payment, refund_id=told.refund_id, at=told.refunded_at)
    standing = reversals.PaymentState(
        paid_cents=payment.paid_cents,
        refunded_cents=payment.refunded_cents,
        by_refunds=booked.by_refunds,
        under_id=booked.cents,
        most_by_refunds=payment.reread_cents if payment.reread_at and told.refunded_at < payment.reread_at else None,
        in_dispute=booked.in_dispute,
        by_total=booked.by_total,
    )
    more_cents = reversals.new_cents(standing, told.amount_cents, is_cumulative=told.is_cumulative)
    if more_cents == 0:
        return Booking(reason="known", conversion_id=payment.conversion_id)
    if same_cents := min(more_cents, booked.in_dispute):  # the refund has it from now on
        refunds.stage_restored(payment, refund_id=booked.dispute, cents=same_cents, now=desk.now)
        payment = replace(payment, refunded_cents=payment.refunded_cents - same_cents)
    payment = totals.make_room(desk, payment, booked, by_refunds=booked.by_refunds + more_cents)
    money_back.take_back(desk, payment, more_cents, refund_id=told.refund_id, reason=told.reason)
    desk.wake([_named(told.refund_id)])
    return Booking(reason=payment.reason, conversion_id=payment.conversion_id)


def restored(desk: BookingDesk, told: RestoredFact) -> Booking:
    """Undo a refund whose money came back; or bring a payment's refunds down to what the gateway says stands of them.

    It waits for its payment, and one that names a refund for that. Budget: as `refunded`.
    """
    payment = desk.known(told.sale_ids)
    if payment is None:
        return desk.park(told.sale_ids)
    booked = refunds.sum_booked(payment, refund_id=told.refund_id)
    if told.refund_id is not None:
        if booked.cents is None:
            return desk.park([_named(told.refund_id)], NO_REFUND)
        back_cents = 0 if booked.is_restored else booked.cents
    else:
        back_cents = _lowered(payment, told, booked)
    if back_cents == 0:
        return Booking(reason="known", conversion_id=payment.conversion_id)
    payment = money_back.give_back(desk, payment, back_cents, refund_id=told.refund_id)
    totals.settle(desk, payment)
    return Booking(reason=payment.reason, conversion_id=payment.conversion_id)


def disputed(desk: BookingDesk, told: DisputeFact) -> Booking:
    """Hold a disputed conversion, take back what a lost dispute took, let the conversion go when it is decided.

    A dispute that is decided is not opened again by what comes late, nor lost by what was told before it was won; one
    that was lost and is won gives back what it took.
    """
    payment = desk.known(told.sale_ids)
    if payment is None:
        return desk.park(told.sale_ids)
    before = disputes.find(payment, dispute_id=told.dispute_id)
    if before is not None and _is_old(told, before):
        return Booking(reason="known", conversion_id=payment.conversion_id)
    disputes.stage(
        payment, dispute_id=told.dispute_id, state=told.state.value, at=told.at, covers_refunds=told.covers_refunds
    )
    refund_id = f"{refunds.DISPUTE_PREFIX}{told.dispute_id}"
    if told.state == DisputeState.Lost:
        taken_cents = reversals.lost_cents(
            paid_cents=payment.paid_cents,
            refunded_cents=payment.refunded_cents,
            currency=payment.currency,
            reported_cents=told.amount_cents,
            reported_currency=told.currency,
            covers_refunds=told.covers_refunds,
        )
        if taken_cents:
            money_back.take_back(desk, payment, taken_cents, refund_id=refund_id, reason="chargeback")
            desk.wake([_named(refund_id)])
    elif before is not None and (taken := refunds.sum_booked(payment, refund_id=refund_id).cents):
        payment = money_back.give_back(desk, payment, taken, refund_id=refund_id)
        totals.settle(desk, payment)
    if payment.conversion_id is not None:
        is_held = told.state == DisputeState.Opened or disputes.has_open(payment, except_id=told.dispute_id)
        act = dispute.hold if is_held else dispute.release
        act(organization_id=desk.organization_id, conversion_id=payment.conversion_id, now=desk.now)
    return Booking(reason=payment.reason, conversion_id=payment.conversion_id)


def catch_up(desk: BookingDesk, payment: GatewayPayment) -> None:
    """Bring a conversion that a known payment has only now to what went back of it before, and hold it if disputed."""
    if payment.refunded_cents:
        money_back.follow(desk, payment, None)
    if payment.conversion_id is not None and disputes.has_open(payment):
        dispute.hold(organization_id=desk.organization_id, conversion_id=payment.conversion_id, now=desk.now)


def _is_old(told: DisputeFact, before: disputes.KnownDispute) -> bool:
    """Say whether a dispute's state is no news: known already, or told before what is known."""
    if told.state in (before.state, DisputeState.Opened):
        return True
    return before.state == DisputeState.Won and told.at <= before.told_at


def _named(refund_id: str) -> str:
    """Return the name under which events wait for a refund: no payment has it."""
    return f"refund {refund_id}"


def _lowered(payment: GatewayPayment, told: RestoredFact, booked: BookedRefunds) -> int:
    """Return how much came back by what a gateway says is refunded still, and stage that it said so."""
    if told.refunded_cents is None or (payment.reread_at and told.restored_at < payment.reread_at):
        return 0
    refunds.stage_reread(payment, cents=told.refunded_cents, at=told.restored_at)
    return max(booked.by_refunds - told.refunded_cents, 0)
