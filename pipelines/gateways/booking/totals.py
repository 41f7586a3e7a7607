"""Books orders that change after they were booked: cancelled, paid again, reduced or raised.

By the order's own time of change: its newest total counts, whenever it arrives, and the most that was ever paid.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from domain.conversions import growth
from domain.gateways.facts import CancelledFact, PaymentFact, TotalFact
from domain.gateways.states import EventStatus
from domain.gateways.totals import PaymentTotals, taken_by_total
from models import advisory_locks
from models.gateways import order_states, orders, refunds
from models.gateways.order_states import OrderState
from models.gateways.payments import GatewayPayment
from models.gateways.refunds import BookedRefunds
from pipelines.conversions import addition, refund
from pipelines.gateways.booking import money_back
from pipelines.gateways.booking.desk import UNKNOWN, Booking, BookingDesk

#: Why money goes back: the order was cancelled, or it comes to less. The first is why a payment has no conversion, too.
CANCELLED, LOWERED = "cancelled", "total_lowered"
_CURRENCY = "total_currency_differs"


@dataclass(frozen=True, slots=True)
class OrderTotal:
    """What an order came to when it last changed: see `TotalFact`. `amount_cents` None: as much as is known."""

    told_at: datetime
    total_cents: int
    amount_cents: int | None = None
    net_cents: int | None = None


def of_payment(paid: PaymentFact) -> OrderTotal | None:
    """Return what a payment says of its order's total; None where its amount never changes."""
    if paid.told_at is None:
        return None
    total_cents = paid.amount_cents if paid.total_cents is None else paid.total_cents
    return OrderTotal(paid.told_at, total_cents, paid.amount_cents, paid.net_cents)


def total(desk: BookingDesk, told: TotalFact) -> Booking:
    """Book the total of an order that is known; of one that is not it is kept for the event of its payment.

    Budget: 1 round trip, and those of `apply`; 2 for one that is not known.
    """
    payment = desk.known(told.sale_ids)
    if payment is None:
        _stage_state(desk, told.sale_ids, OrderState(told.told_at, told.amount_cents, told.total_cents))
        desk.wake(told.sale_ids)  # its payment may have come while the order was cancelled
        return Booking(EventStatus.Ignored, UNKNOWN)
    if told.currency != payment.currency:
        return Booking(EventStatus.Parked, _CURRENCY)
    apply(desk, payment, OrderTotal(told.told_at, told.total_cents, told.amount_cents, told.net_cents))
    return Booking(reason=payment.reason, conversion_id=payment.conversion_id)


def cancelled(desk: BookingDesk, told: CancelledFact) -> Booking:
    """Give back all that remains of an order that was cancelled; remember one whose payment is not known.

    Budget: 1 round trip, and those of `apply`.
    """
    payment = desk.known(told.sale_ids)
    if payment is None:
        _stage_state(desk, told.sale_ids, OrderState(told.told_at, amount_cents=0, total_cents=0))
        return Booking(reason=CANCELLED)
    apply(desk, payment, OrderTotal(told.told_at, total_cents=0))
    return Booking(reason=payment.reason, conversion_id=payment.conversion_id)


def is_cancelled(paid: PaymentFact, state: OrderState | None) -> bool:
    """Return whether the order of a payment was cancelled after what the payment's event says of it."""
    return state is not None and paid.told_at is not None and paid.told_at < state.told_at and not state.total_cents


def apply_state(desk: BookingDesk, payment: GatewayPayment, state: OrderState | None) -> GatewayPayment:
    """Bring a payment that was staged just now to what its order came to by what was told before it.

    Budget: as `apply`; none where its own event is the newest and its total whole.
    """
    if state is not None and payment.told_at is not None and payment.told_at < state.told_at:
        return apply(desk, payment, OrderTotal(state.told_at, state.total_cents, state.amount_cents))
    return settle(desk, payment) if _is_lowered(payment) else payment


def apply(desk: BookingDesk, payment: GatewayPayment, told: OrderTotal) -> GatewayPayment:
    """Bring a locked payment and its conversion to what its order comes to; return the payment as it is then.

    Budget: none where nothing changed; else 1 round trip (what is booked), and those of what goes back, comes back or
    is added.
    """
    is_older = payment.told_at is not None and told.told_at < payment.told_at
    amount_cents = max(payment.paid_cents, told.amount_cents or 0)
    if is_older and amount_cents == payment.paid_cents:
        return payment
    # The most that was ever paid counts, so that events lead to the same amounts in whatever order they arrive.
    after = replace(payment, paid_cents=amount_cents)
    if not is_older:
        after = replace(after, total_cents=told.total_cents, told_at=told.told_at)
    orders.stage_total(after)
    if amount_cents > payment.paid_cents:
        _raise_conversion(desk, payment, after, told)
    if _is_lowered(payment) or _is_lowered(after):
        return settle(desk, after)
    return after


def settle(desk: BookingDesk, payment: GatewayPayment) -> GatewayPayment:
    """Bring what a locked payment's total took to what it takes beside refunds and disputes by now.

    Budget: none for a payment whose total is whole; else 1 round trip and those of what goes back or comes back.
    """
    if payment.total_cents is None:
        return payment
    booked = refunds.sum_booked(payment, refund_id=None)
    change_cents = _compute_part(payment, booked, by_refunds=booked.by_refunds) - booked.by_total
    if change_cents > 0:
        reason = CANCELLED if payment.total_cents == 0 else LOWERED
        return money_back.take_back(desk, payment, change_cents, refund_id=_refund_id(payment), reason=reason)
    if change_cents < 0:
        return money_back.give_back(desk, payment, -change_cents, refund_id=_refund_id(payment))
    return payment


def make_room(desk: BookingDesk, payment: GatewayPayment, booked: BookedRefunds, *, by_refunds: int) -> GatewayPayment:
    """Release what the total took as the same money as refunds, once these come to `by_refunds`.

    The conversion follows with the refund itself. Budget: none.
    """
    freed_cents = booked.by_total - _compute_part(payment, booked, by_refunds=by_refunds)
    if freed_cents <= 0:
        return payment
    refunds.stage_restored(payment, refund_id=_refund_id(payment), cents=freed_cents, now=desk.now)
    return replace(payment, refunded_cents=payment.refunded_cents - freed_cents)


def _raise_conversion(desk: BookingDesk, before: GatewayPayment, after: GatewayPayment, told: OrderTotal) -> None:
    if after.conversion_id is None:
        return
    advisory_locks.stage_shared_payout_run_lock(desk.organization_id)
    conversion = refund.lock_conversion(desk.organization_id, after.conversion_id)
    others = orders.sum_other_payments(before)
    more_net_cents = None
    if told.net_cents is not None and not others.paid_cents:
        more_net_cents = told.net_cents - conversion.amount_cents
    added_cents = growth.count_payment(
        amount_cents=conversion.amount_cents,
        paid_cents=before.paid_cents + others.paid_cents,
        more_paid_cents=after.paid_cents - before.paid_cents,
        more_net_cents=more_net_cents,
    )
    grown = addition.add(conversion, added_cents, payment_id=None, now=desk.now)
    known_cents = before.refunded_cents + others.refunded_cents
    money_back.bring_to_refunds(desk, after, grown, None, known_cents=known_cents)


def _stage_state(desk: BookingDesk, order_ids: Sequence[str], state: OrderState) -> None:
    order_states.stage(organization_id=desk.organization_id, gateway=desk.gateway, order_ids=order_ids, state=state)


def _is_lowered(payment: GatewayPayment) -> bool:
    return payment.total_cents is not None and payment.total_cents < payment.paid_cents


def _compute_part(payment: GatewayPayment, booked: BookedRefunds, *, by_refunds: int) -> int:
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
