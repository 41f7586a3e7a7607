"""What lemonsqueezy's events mean: orders, invoices and starts of subscriptions, and what went back of them.

The first payment of a subscription is its order; its first invoice is the same money, unless the order was of nothing.
What went back of it is told of the order, of the invoice, or of both: the larger running total counts.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.wire import GatewayWire
from domain.gateways import amounts
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    Fact,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    ReferralFact,
    RefundFact,
    StartFact,
    UnreadableEvent,
)

EVENTS = (
    "order_created",
    "order_refunded",
    "subscription_created",
    "subscription_payment_success",
    "subscription_payment_refunded",
)
#: States of orders and invoices whose money came; `partial_refund` is seen, but not described.
PAID = ("paid", "refunded", "partial_refund")
#: The events of a payment and of a refund, by what they are about.
TOLD_BY: Mapping[str, tuple[str, str]] = {
    "order": ("order_created", "order_refunded"),
    "invoice": ("subscription_payment_success", "subscription_payment_refunded"),
}


def read(wire: GatewayWire, event: Any) -> tuple[Fact, ...]:
    """Return the facts of an event. Raises as `GatewayAdapter.facts`."""
    object_id, told = shapes.needed(event, "data", "id"), shapes.at(event, "data", "attributes")
    match shapes.text(event, "meta", "event_name"):
        case "order_created":
            return _order(wire, object_id, told, _origin(event))
        case "order_refunded":
            return _refund(f"order:{object_id}", told)
        case "subscription_created":
            return (_subscription(object_id, told, _origin(event)),)
        case "subscription_payment_success":
            return _invoice(wire, object_id, told, _origin(event))
        case "subscription_payment_refunded":
            order_id = _paid_by_order(wire, told)
            return _refund(f"order:{order_id}" if order_id else f"invoice:{object_id}", told)
        case _:
            return (IgnoredFact("unknown_type"),)


def _order(wire: GatewayWire, order_id: str, order: Any, origin: BuyerOrigin) -> tuple[Fact, ...]:
    if shapes.text(order, "status") not in PAID:
        return (IgnoredFact("not_paid"),)
    is_discounted = shapes.at(order, "discount_total") != 0
    origin = replace(origin, codes=_codes(wire, order_id) if is_discounted else ())
    paid = _payment(f"order:{order_id}", order, origin)
    if paid.amount_cents == 0:  # a trial is told by its subscription, what is free by nobody
        return (ReferralFact(told_at=paid.paid_at, origin=origin),)
    return (paid, *_refund(f"order:{order_id}", order, is_asked=False))


def _invoice(wire: GatewayWire, invoice_id: str, invoice: Any, origin: BuyerOrigin) -> tuple[Fact, ...]:
    if shapes.text(invoice, "status") not in PAID:
        return (IgnoredFact("not_paid"),)
    paid = _payment(f"invoice:{invoice_id}", invoice, origin)
    if paid.amount_cents == 0:
        return (IgnoredFact("zero_amount"),)
    order_id = _paid_by_order(wire, invoice)
    if order_id is not None:
        return (IgnoredFact("duplicate_of_another_event"),)
    return (paid, *_refund(f"invoice:{invoice_id}", invoice, is_asked=False))


def _subscription(subscription_id: str, subscription: Any, origin: BuyerOrigin) -> Fact:
    at = shapes.moment(subscription, "created_at")
    origin = replace(origin, subscription_id=subscription_id)
    if shapes.text(subscription, "status") == "on_trial":
        return StartFact(external_id=subscription_id, started_at=at, origin=origin)
    return ReferralFact(told_at=at, origin=origin)


def _paid_by_order(wire: GatewayWire, invoice: Any) -> str | None:
    """Return the order whose money an invoice is; None for an invoice with money of its own."""
    if shapes.text(invoice, "billing_reason") != "initial":
        return None
    subscription_id = shapes.needed(invoice, "subscription_id")
    subscription = wire.get(f"/subscriptions/{shapes.segment(subscription_id)}")
    order_id = shapes.needed(subscription, "data", "attributes", "order_id")
    order = shapes.at(wire.get(f"/orders/{shapes.segment(order_id)}"), "data", "attributes")
    return order_id if _amount(order, "total") else None


def _payment(external_id: str, told: Any, origin: BuyerOrigin) -> PaymentFact:
    paid, currency = _amount(told, "total"), amounts.currency(shapes.at(told, "currency"))
    return PaymentFact(
        external_id=external_id,
        amount_cents=paid,
        currency=currency,
        paid_at=shapes.moment(told, "created_at"),
        origin=origin,
        net_cents=amounts.subtract_parts(paid, amounts.parse_exact_minor(shapes.at(told, "tax"), currency)),
    )


def _refund(sale_id: str, told: Any, *, is_asked: bool = True) -> tuple[Fact, ...]:
    """Return what went back in all; where nothing did, or that is unknown, only if the event is a refund's own."""
    currency = amounts.currency(shapes.at(told, "currency"))
    is_whole, figure = shapes.at(told, "refunded") is True, shapes.at(told, "refunded_amount")
    if figure is None and not is_whole and is_asked:
        raise UnreadableEvent("refunded_amount is missing")
    read = amounts.of_minor if is_asked and figure is not None else amounts.parse_exact_minor
    back = read(figure, currency) or 0
    if not back and not is_whole:
        return (IgnoredFact("no_money_moved"),) if is_asked else ()
    moments = (name for name in ("refunded_at", "updated_at", "created_at") if shapes.text(told, name))
    refund = RefundFact(
        refund_id=sale_id,
        sale_ids=(sale_id,),
        amount_cents=back or None,
        currency=currency,
        refunded_at=shapes.moment(told, next(moments, "updated_at")),
        is_cumulative=True,
    )
    return (refund,)


def _amount(told: Any, name: str) -> int:
    return amounts.of_minor(shapes.at(told, name), amounts.currency(shapes.at(told, "currency")))


def _origin(event: Any) -> BuyerOrigin:
    meta, told = shapes.at(event, "meta"), shapes.at(event, "data", "attributes")
    table = shapes.table(meta, "custom_data")
    return BuyerOrigin(
        customer_id=shapes.identity(told, "customer_id"),
        email=shapes.text(told, "user_email"),
        name=shapes.text(told, "user_name"),
        subscription_id=shapes.identity(told, "subscription_id"),
        carriers=(Carrier("lemonsqueezy_custom_data", table),) if table else (),
        is_test=True in (shapes.at(meta, "test_mode"), shapes.at(told, "test_mode")),
        is_referral_lost=shapes.at(meta, "from_list") is True,
    )


def _codes(wire: GatewayWire, order_id: str) -> tuple[RedeemedCode, ...]:
    redeemed = shapes.items(wire.find(f"/orders/{shapes.segment(order_id)}/discount-redemptions"), "data")
    codes = ((shapes.text(item, "attributes", "discount_code") or "", _discount_id(item)) for item in redeemed)
    return tuple(RedeemedCode(text, "lemonsqueezy_coupon_code", id) for text, id in codes if text or id)


def _discount_id(redemption: Any) -> str | None:
    return shapes.identity(redemption, "attributes", "discount_id")
