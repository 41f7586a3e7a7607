"""Money that goes back and comes back: refunds and disputes, each once, by whichever id of its payment it names.

Source: tracking spec, "Refund", section 3 "States and transitions" and "Coupon codes" (refund events).
"""

from dataclasses import replace

from domain.gateways import basis, reversals
from domain.gateways.facts import DisputeFact, DisputeState, RefundFact, RestoredFact
from domain.gateways.states import EventStatus
from domain.refused import Refused
from models import turns
from models.conversions import refunds as conversion_refunds
from models.conversions.conversions import Conversion
from models.gateways import disputes, refunds
from models.gateways.payments import GatewayPayment
from models.gateways.refunds import BookedRefunds
from pipelines.conversions import dispute, refund, restore
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
    booked = refunds.booked(payment, refund_id=told.refund_id, at=told.refunded_at)
    standing = reversals.Standing(
        paid_cents=payment.paid_cents,
        refunded_cents=payment.refunded_cents,
        by_refunds=booked.by_refunds,
        under_id=booked.cents,
        most_by_refunds=payment.reread_cents if payment.reread_at and told.refunded_at < payment.reread_at else None,
        in_dispute=booked.in_dispute,
    )
    more_cents = reversals.news(standing, told.amount_cents, is_cumulative=told.is_cumulative)
    if more_cents == 0:
        return Booking(reason="known", conversion_id=payment.conversion_id)
    if same_cents := min(more_cents, booked.in_dispute):  # the refund has it from now on
        refunds.stage_restored(payment, refund_id=booked.dispute, cents=same_cents, now=desk.now)
        payment = replace(payment, refunded_cents=payment.refunded_cents - same_cents)
    _take_back(desk, payment, more_cents, refund_id=told.refund_id, reason=told.reason)
    desk.wake([_named(told.refund_id)])
    return Booking(reason=payment.reason, conversion_id=payment.conversion_id)


def restored(desk: BookingDesk, told: RestoredFact) -> Booking:
    """Undo a refund whose money came back; or bring a payment's refunds down to what the gateway says stands of them.

    It waits for its payment, and one that names a refund for that. Budget: as `refunded`.
    """
    payment = desk.known(told.sale_ids)
    if payment is None:
        return desk.park(told.sale_ids)
    booked = refunds.booked(payment, refund_id=told.refund_id)
    if told.refund_id is not None:
        if booked.cents is None:
            return desk.park([_named(told.refund_id)], NO_REFUND)
        back_cents = 0 if booked.is_restored else booked.cents
    else:
        back_cents = _lowered(payment, told, booked)
    if back_cents == 0:
        return Booking(reason="known", conversion_id=payment.conversion_id)
    _give_back(desk, payment, back_cents, refund_id=told.refund_id)
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
    refund_id = f"{refunds.OF_DISPUTE}{told.dispute_id}"
    if told.state == DisputeState.Lost:
        taken_cents = reversals.lost(
            paid_cents=payment.paid_cents,
            refunded_cents=payment.refunded_cents,
            currency=payment.currency,
            told_cents=told.amount_cents,
            told_currency=told.currency,
            covers_refunds=told.covers_refunds,
        )
        if taken_cents:
            _take_back(desk, payment, taken_cents, refund_id=refund_id, reason="chargeback")
            desk.wake([_named(refund_id)])
    elif before is not None and (taken := refunds.booked(payment, refund_id=refund_id).cents):
        _give_back(desk, payment, taken, refund_id=refund_id)
    if payment.conversion_id is not None:
        is_held = told.state == DisputeState.Opened or disputes.has_open(payment, beside=told.dispute_id)
        act = dispute.hold if is_held else dispute.release
        act(organization_id=desk.organization_id, conversion_id=payment.conversion_id, now=desk.now)
    return Booking(reason=payment.reason, conversion_id=payment.conversion_id)


def catch_up(desk: BookingDesk, payment: GatewayPayment) -> None:
    """Bring a conversion that a known payment has only now to what went back of it before, and hold it if disputed."""
    if payment.refunded_cents:
        _follow(desk, payment, None)
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


def _take_back(desk: BookingDesk, payment: GatewayPayment, cents: int, *, refund_id: str, reason: str | None) -> None:
    refunds.stage(payment, refund_id=refund_id, cents=cents, now=desk.now)
    _follow(desk, replace(payment, refunded_cents=payment.refunded_cents + cents), reason)


def _give_back(desk: BookingDesk, payment: GatewayPayment, cents: int, *, refund_id: str | None) -> None:
    refunds.stage_restored(payment, refund_id=refund_id, cents=cents, now=desk.now)
    _follow(desk, replace(payment, refunded_cents=payment.refunded_cents - cents), None)


def _follow(desk: BookingDesk, payment: GatewayPayment, reason: str | None) -> None:
    """Bring a payment's conversion to what stands of the payment's refunds, up or down.

    What the brand refunded and the gateway reports now is the same money: it is not taken back again (decision 72).
    """
    if payment.conversion_id is None:
        return
    turns.stage_no_run(desk.organization_id)
    conversion = refund.locked(desk.organization_id, payment.conversion_id)
    before = basis.RefundedParts(conversion.refunded_cents, conversion.unreported_cents)
    is_whole = payment.refunded_cents == payment.paid_cents
    if conversion.amount_cents == 0:
        # Of a sale that counts nothing, only all or nothing can go back.
        after = basis.RefundedParts(0, None if is_whole else conversion.unreported_cents)
        is_to_end = is_whole and conversion.refunded_at is None
        is_to_begin = not is_whole and conversion.refunded_at is not None and conversion.unreported_cents is None
    else:
        after = basis.followed(before, reported_cents=_share(conversion, payment))
        is_to_end = after.refunded_cents > before.refunded_cents
        is_to_begin = after.refunded_cents < before.refunded_cents
    if is_to_begin:
        restore.of_conversion(conversion, after.refunded_cents, unreported_cents=after.unreported_cents, now=desk.now)
    elif is_to_end:
        _refund(desk, conversion, after, reason)
    elif after != before:
        conversion_refunds.stage_unreported(conversion, after.unreported_cents)


def _share(conversion: Conversion, payment: GatewayPayment) -> int:
    return basis.refunded(
        amount_cents=conversion.amount_cents, paid_cents=payment.paid_cents, refunded_cents=payment.refunded_cents
    )


def _refund(desk: BookingDesk, conversion: Conversion, after: basis.RefundedParts, reason: str | None) -> None:
    more_cents = after.refunded_cents - conversion.refunded_cents or None
    try:
        refund.of_conversion(
            conversion, more_cents, unreported_cents=after.unreported_cents, now=desk.now, reason=reason
        )
    except Refused as refused:
        raise AssertionError(f"{conversion.id}: {refused}") from refused  # what is asked for is what is left
