"""Books changes of orders that are booked already: cancelled, paid again, reduced or raised.

Events may arrive in any order, so the order's own time of change (`told_at`) decides. Two figures count: the newest
total, and the highest amount ever paid.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from domain.conversions import growth
from domain.gateways.facts import CancelledFact, PaymentFact, TotalFact
from domain.gateways.states import EventStatus
from domain.gateways.totals import PaymentTotals, taken_by_total
from domain.money import money
from models import advisory_locks
from models.gateways import order_states, orders, refunds
from models.gateways.order_states import OrderState
from models.gateways.payments import GatewayPayment
from models.gateways.refunds import BookedRefunds
from pipelines.conversions import addition, refund
from pipelines.gateways.booking import payment_refunds
from pipelines.gateways.booking.context import UNKNOWN, BookingContext, FactResult

#: Reasons of a refund. A payment without a conversion may also have the reason CANCELLED.
CANCELLED, LOWERED = "cancelled", "total_lowered"
_CURRENCY = "total_currency_differs"


@dataclass(frozen=True, slots=True)
class OrderTotal:
    """The total of an order at its last change, as in `TotalFact`; `amount_cents` None means the stored amount."""

    told_at: datetime
    total_cents: int
    amount_cents: int | None = None
    net_cents: int | None = None


def with_known_amount(fact: PaymentFact, existing: GatewayPayment) -> PaymentFact:
    """Return a payment with its stored amount: its order may have been raised after this event."""
    if fact.amount_cents in (0, existing.paid_cents):
        return replace(fact, amount_cents=existing.paid_cents)
    net_cents = fact.net_cents
    if net_cents is not None:
        net_cents = money.divide_half_even(net_cents * existing.paid_cents, fact.amount_cents)
    return replace(fact, amount_cents=existing.paid_cents, net_cents=net_cents)


def total_from_payment(fact: PaymentFact) -> OrderTotal | None:
    """Return the total of a payment's order; None if its amount cannot change after payment."""
    if fact.told_at is None:
        return None
    total_cents = fact.amount_cents if fact.total_cents is None else fact.total_cents
    return OrderTotal(fact.told_at, total_cents, fact.amount_cents, fact.net_cents)


def book_total(context: BookingContext, fact: TotalFact) -> FactResult:
    """Book the total of an order; if its payment is unknown, store the total for the event of the payment.

    Budget: 1 round trip and those of `apply_total`; 2 for an unknown payment.
    """
    payment = context.lock_payment(fact.sale_ids)
    if payment is None:
        _stage_state(context, fact.sale_ids, OrderState(fact.told_at, fact.amount_cents, fact.total_cents))
        context.release_parked(fact.sale_ids)  # its payment may be parked, having arrived while the order was cancelled
        return FactResult(EventStatus.Ignored, UNKNOWN)
    if fact.currency != payment.currency:
        return FactResult(EventStatus.Parked, _CURRENCY)
    apply_total(context, payment, OrderTotal(fact.told_at, fact.total_cents, fact.amount_cents, fact.net_cents))
    return FactResult(reason=payment.reason, conversion_id=payment.conversion_id)


def book_cancellation(context: BookingContext, fact: CancelledFact) -> FactResult:
    """Refund all that remains of a cancelled order; if its payment is unknown, store the cancellation.

    Budget: 1 round trip, and those of `apply_total`.
    """
    payment = context.lock_payment(fact.sale_ids)
    if payment is None:
        _stage_state(context, fact.sale_ids, OrderState(fact.told_at, amount_cents=0, total_cents=0))
        return FactResult(reason=CANCELLED)
    apply_total(context, payment, OrderTotal(fact.told_at, total_cents=0))
    return FactResult(reason=payment.reason, conversion_id=payment.conversion_id)


def is_cancelled(fact: PaymentFact, state: OrderState | None) -> bool:
    """Return whether the order of a payment was cancelled after the payment's event."""
    return state is not None and fact.told_at is not None and fact.told_at < state.told_at and not state.total_cents


def apply_state(context: BookingContext, payment: GatewayPayment, state: OrderState | None) -> GatewayPayment:
    """Apply the stored total of the order to a payment that was just staged.

    Budget: as `apply_total`; none if the payment's own event is the newest and its total is not lowered.
    """
    if state is not None and payment.told_at is not None and payment.told_at < state.told_at:
        return apply_total(context, payment, OrderTotal(state.told_at, state.total_cents, state.amount_cents))
    return settle_total(context, payment) if _is_lowered(payment) else payment


def apply_total(context: BookingContext, payment: GatewayPayment, total: OrderTotal) -> GatewayPayment:
    """Update a locked payment and its conversion to the total of its order; return the updated payment.

    Budget: none if nothing changed; else 1 round trip (booked refunds) and those of the refund, return or addition.
    """
    is_older = payment.told_at is not None and total.told_at < payment.told_at
    amount_cents = max(payment.paid_cents, total.amount_cents or 0)
    if is_older and amount_cents == payment.paid_cents:
        return payment
    # The highest amount ever paid counts, so that events lead to the same amounts in whatever order they arrive.
    after = replace(payment, paid_cents=amount_cents)
    if not is_older:
        after = replace(after, total_cents=total.total_cents, told_at=total.told_at)
    orders.stage_total(after)
    if amount_cents > payment.paid_cents:
        _raise_conversion(context, payment, after, total)
    if _is_lowered(payment) or _is_lowered(after):
        return settle_total(context, after)
    return after


def settle_total(context: BookingContext, payment: GatewayPayment) -> GatewayPayment:
    """Update the refund that a locked payment's lowered total causes, in addition to refunds and disputes.

    Budget: none for a payment whose total was never lowered; else 1 round trip and those of the change.
    """
    if payment.total_cents is None:
        return payment
    booked = refunds.sum_booked(payment, refund_id=None)
    change_cents = _compute_total_refund(payment, booked, by_refunds=booked.by_refunds) - booked.by_total
    if change_cents > 0:
        reason = CANCELLED if payment.total_cents == 0 else LOWERED
        return payment_refunds.take_back(context, payment, change_cents, refund_id=_refund_id(payment), reason=reason)
    if change_cents < 0:
        return payment_refunds.give_back(context, payment, -change_cents, refund_id=_refund_id(payment))
    return payment


def release_refunded_part(
    context: BookingContext, payment: GatewayPayment, booked: BookedRefunds, *, by_refunds: int
) -> GatewayPayment:
    """Reduce the refund that the lowered total caused by what a reported refund now covers; return the payment.

    Gateways report one refund twice: as a refund and as a lower total. `by_refunds` is the sum of all refunds with the
    new one. The caller books that refund, which updates the conversion. Budget: none.
    """
    freed_cents = booked.by_total - _compute_total_refund(payment, booked, by_refunds=by_refunds)
    if freed_cents <= 0:
        return payment
    refunds.stage_restored(payment, refund_id=_refund_id(payment), cents=freed_cents, now=context.now)
    return replace(payment, refunded_cents=payment.refunded_cents - freed_cents)


def _raise_conversion(
    context: BookingContext, before: GatewayPayment, after: GatewayPayment, total: OrderTotal
) -> None:
    if after.conversion_id is None:
        return
    advisory_locks.stage_shared_payout_run_lock(context.organization_id)
    conversion = refund.lock_conversion(context.organization_id, after.conversion_id)
    others = orders.sum_other_payments(before)
    more_net_cents = None
    if total.net_cents is not None and not others.paid_cents:
        more_net_cents = total.net_cents - conversion.amount_cents
    added_cents = growth.count_payment(
        amount_cents=conversion.amount_cents,
        paid_cents=before.paid_cents + others.paid_cents,
        more_paid_cents=after.paid_cents - before.paid_cents,
        more_net_cents=more_net_cents,
    )
    grown = addition.add(conversion, added_cents, payment_id=None, now=context.now)
    known_cents = before.refunded_cents + others.refunded_cents
    payment_refunds.apply_refunds(context, after, grown, None, known_cents=known_cents)


def _stage_state(context: BookingContext, order_ids: Sequence[str], state: OrderState) -> None:
    order_states.stage(
        organization_id=context.organization_id, gateway=context.gateway, order_ids=order_ids, state=state
    )


def _is_lowered(payment: GatewayPayment) -> bool:
    return payment.total_cents is not None and payment.total_cents < payment.paid_cents


def _compute_total_refund(payment: GatewayPayment, booked: BookedRefunds, *, by_refunds: int) -> int:
    return taken_by_total(
        PaymentTotals(
            paid_cents=payment.paid_cents,
            total_cents=payment.total_cents,
            by_refunds=by_refunds,
            by_disputes=payment.refunded_cents - booked.by_refunds - booked.by_total,
        )
    )


def _refund_id(payment: GatewayPayment) -> str:
    return f"{refunds.TOTAL_PREFIX}{payment.external_id}"
