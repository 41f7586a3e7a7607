"""Books refunds and disputes: each once, by whichever id of its payment it names.

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
from pipelines.gateways.booking import payment_refunds, totals
from pipelines.gateways.booking.context import NO_REFUND, BookingContext, FactResult


def book_refund(context: BookingContext, fact: RefundFact) -> FactResult:
    """Book a refund by its id, a cumulative one as far as it exceeds the booked refunds; it waits for its payment.

    A refund from before the payment's refunds were last read at the gateway, because money had been returned, counts up
    to the amount read then.
    Budget: 5 round trips (payment; booked refunds; conversion; override; events that waited for this refund), the
    writes with the last.
    """
    payment = context.lock_payment(fact.sale_ids)
    if payment is None:
        return context.park_event(fact.sale_ids)
    if fact.currency not in (None, payment.currency):
        return FactResult(
            EventStatus.Parked, "refund_currency_differs"
        )  # the amount is in another currency: a person decides
    booked = refunds.sum_booked(payment, refund_id=fact.refund_id, at=fact.refunded_at)
    state = reversals.PaymentState(
        paid_cents=payment.paid_cents,
        refunded_cents=payment.refunded_cents,
        by_refunds=booked.by_refunds,
        under_id=booked.cents,
        most_by_refunds=payment.reread_cents if payment.reread_at and fact.refunded_at < payment.reread_at else None,
        in_dispute=booked.in_dispute,
        by_total=booked.by_total,
    )
    more_cents = reversals.new_cents(state, fact.amount_cents, is_cumulative=fact.is_cumulative)
    if more_cents == 0:
        return FactResult(reason="known", conversion_id=payment.conversion_id)
    if same_cents := min(more_cents, booked.in_dispute):  # the same money counts as the refund from now on
        refunds.stage_restored(payment, refund_id=booked.dispute, cents=same_cents, now=context.now)
        payment = replace(payment, refunded_cents=payment.refunded_cents - same_cents)
    payment = totals.release_refunded_part(context, payment, booked, by_refunds=booked.by_refunds + more_cents)
    payment_refunds.take_back(context, payment, more_cents, refund_id=fact.refund_id, reason=fact.reason)
    context.release_parked([_refund_name(fact.refund_id)])
    return FactResult(reason=payment.reason, conversion_id=payment.conversion_id)


def book_restored_refund(context: BookingContext, fact: RestoredFact) -> FactResult:
    """Undo a refund whose money was returned; or lower a payment's refunds to what the gateway still reports.

    It waits for its payment, and for the refund that it names. Budget: as `book_refund`.
    """
    payment = context.lock_payment(fact.sale_ids)
    if payment is None:
        return context.park_event(fact.sale_ids)
    booked = refunds.sum_booked(payment, refund_id=fact.refund_id)
    if fact.refund_id is not None:
        if booked.cents is None:
            return context.park_event([_refund_name(fact.refund_id)], NO_REFUND)
        back_cents = 0 if booked.is_restored else booked.cents
    else:
        back_cents = _compute_restored_cents(payment, fact, booked)
    if back_cents == 0:
        return FactResult(reason="known", conversion_id=payment.conversion_id)
    payment = payment_refunds.give_back(context, payment, back_cents, refund_id=fact.refund_id)
    totals.settle_total(context, payment)
    return FactResult(reason=payment.reason, conversion_id=payment.conversion_id)


def book_dispute(context: BookingContext, fact: DisputeFact) -> FactResult:
    """Hold a disputed conversion, refund what a lost dispute took, release the conversion when the dispute is decided.

    A decided dispute is not opened again by a late event, nor lost by an event from before it was won; a lost dispute
    that is won after all gives back what it took.
    """
    payment = context.lock_payment(fact.sale_ids)
    if payment is None:
        return context.park_event(fact.sale_ids)
    before = disputes.find(payment, dispute_id=fact.dispute_id)
    if before is not None and _is_outdated(fact, before):
        return FactResult(reason="known", conversion_id=payment.conversion_id)
    disputes.stage(
        payment, dispute_id=fact.dispute_id, state=fact.state.value, at=fact.at, covers_refunds=fact.covers_refunds
    )
    refund_id = f"{refunds.DISPUTE_PREFIX}{fact.dispute_id}"
    if fact.state == DisputeState.Lost:
        taken_cents = reversals.lost_cents(
            paid_cents=payment.paid_cents,
            refunded_cents=payment.refunded_cents,
            currency=payment.currency,
            reported_cents=fact.amount_cents,
            reported_currency=fact.currency,
            covers_refunds=fact.covers_refunds,
        )
        if taken_cents:
            payment_refunds.take_back(context, payment, taken_cents, refund_id=refund_id, reason="chargeback")
            context.release_parked([_refund_name(refund_id)])
    elif before is not None and (taken := refunds.sum_booked(payment, refund_id=refund_id).cents):
        payment = payment_refunds.give_back(context, payment, taken, refund_id=refund_id)
        totals.settle_total(context, payment)
    if payment.conversion_id is not None:
        is_held = fact.state == DisputeState.Opened or disputes.has_open(payment, except_id=fact.dispute_id)
        act = dispute.hold if is_held else dispute.release
        act(organization_id=context.organization_id, conversion_id=payment.conversion_id, now=context.now)
    return FactResult(reason=payment.reason, conversion_id=payment.conversion_id)


def apply_earlier_reversals(context: BookingContext, payment: GatewayPayment) -> None:
    """Apply earlier refunds of a known payment to its new conversion, and hold it if the payment is disputed."""
    if payment.refunded_cents:
        payment_refunds.update_conversion(context, payment, None)
    if payment.conversion_id is not None and disputes.has_open(payment):
        dispute.hold(organization_id=context.organization_id, conversion_id=payment.conversion_id, now=context.now)


def _is_outdated(fact: DisputeFact, before: disputes.KnownDispute) -> bool:
    """Return whether a dispute's state changes nothing: it is known already, or older than the known one."""
    if fact.state in (before.state, DisputeState.Opened):
        return True
    return before.state == DisputeState.Won and fact.at <= before.told_at


def _refund_name(refund_id: str) -> str:
    """Return the name under which events wait for a refund; no payment has such an id."""
    return f"refund {refund_id}"


def _compute_restored_cents(payment: GatewayPayment, fact: RestoredFact, booked: BookedRefunds) -> int:
    """Return how much was returned by the refunds that the gateway still reports, and stage what it reports."""
    if fact.refunded_cents is None or (payment.reread_at and fact.restored_at < payment.reread_at):
        return 0
    refunds.stage_reread(payment, cents=fact.refunded_cents, at=fact.restored_at)
    return max(booked.by_refunds - fact.refunded_cents, 0)
