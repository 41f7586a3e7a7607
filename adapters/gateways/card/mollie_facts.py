"""What mollie's payments, refunds and chargebacks mean, as an event, a list, or the payment itself tells them.

Refunds and chargebacks are counted one by one under their own ids, never by the payment's running totals: whichever
way they are told, they are the same.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.wire import GatewayWire, parsed
from domain.gateways import amounts, referrals
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    DisputeFact,
    DisputeState,
    Fact,
    Facts,
    IgnoredFact,
    PaymentFact,
    RefundFact,
    RestoredFact,
    UnreadableEvent,
)

#: What a webhook is made for. The other states of a refund move no money; a payment link's payment tells itself.
EVENTS = ("payment.paid", "refund.refunded", "refund.failed", "chargeback.received", "chargeback.reversed")

_METHOD = "mollie_metadata"
# What of an order's lines is delivery.
_SHIPPING = "shipping_fee"


def of_event(wire: GatewayWire, event: Any) -> Facts:
    """Translate an event. What a simple one leaves out is asked for."""
    kind = shapes.text(event, "type")
    if kind is None:
        raise UnreadableEvent("type is missing")
    if kind not in EVENTS:
        return IgnoredFact("unknown_type")
    entity_id, entity = shapes.needed(event, "entityId"), _entity(event)
    if kind == "payment.paid":
        return of_payment(wire, entity_id) if entity is None else _payment(entity)
    if entity is None:
        entity = _entity(wire.find(f"/events/{shapes.segment(shapes.needed(event, 'id'))}"))
    payment_id = shapes.needed(entity, "paymentId")
    if kind.startswith("refund."):
        return _refund(entity, payment_id, shapes.moment(event, "createdAt"))
    return _chargeback(entity, payment_id, is_back=kind == "chargeback.reversed")


def of_payment(wire: GatewayWire, payment_id: str) -> Facts:
    """Read a payment, and tell all that happened to it by now."""
    payment = wire.find(f"/payments/{shapes.segment(payment_id)}", {"embed": "refunds,chargebacks"})
    if payment is None:
        return IgnoredFact("unknown_there")
    facts = [_payment(payment)]
    for refund in shapes.items(payment, "_embedded", "refunds"):
        facts += shapes.read_alongside_sale(partial(_refund, refund, payment_id))
    for chargeback in shapes.items(payment, "_embedded", "chargebacks"):
        facts += shapes.read_alongside_sale(partial(_chargeback, chargeback, payment_id))
    return tuple(facts)


def paid_at(payment: Any) -> datetime:
    """Return when a payment was paid."""
    return shapes.moment(payment, "createdAt" if shapes.at(payment, "paidAt") is None else "paidAt")


def carriers(holder: Any) -> tuple[Carrier, ...]:
    """Return what the metadata of a payment or a customer carries: an object, one as a text, or a query."""
    found = shapes.at(holder, "metadata")
    fields: Mapping[str, str] = shapes.table(found)
    if isinstance(found, str):
        fields = _fields(found)
    return (Carrier(_METHOD, fields),) if fields else ()


def _payment(payment: Any) -> Fact:
    if shapes.text(payment, "status") != "paid":
        return IgnoredFact("not_paid")
    currency = amounts.currency(shapes.at(payment, "amount", "currency"))
    paid = amounts.from_decimal(shapes.at(payment, "amount", "value"), currency)
    origin = BuyerOrigin(
        customer_id=shapes.identity(payment, "customerId"),
        email=shapes.text(payment, "billingAddress", "email"),
        name=shapes.full_name(shapes.at(payment, "billingAddress"), "givenName", "familyName"),
        subscription_id=shapes.identity(payment, "subscriptionId"),
        carriers=carriers(payment),
        is_test=shapes.text(payment, "mode") == "test",
    )
    return PaymentFact(
        external_id=shapes.needed(payment, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=paid_at(payment),
        origin=origin,
        net_cents=_net(payment, paid, currency),
        order_id=shapes.identity(payment, "orderId"),
    )


def _refund(refund: Any, payment_id: str, changed_at: datetime | None = None) -> Fact:
    at = changed_at or shapes.moment(refund, "createdAt")
    refund_id, status = shapes.needed(refund, "id"), shapes.text(refund, "status")
    if status == "failed":
        return RestoredFact(sale_ids=(payment_id,), restored_at=at, refund_id=refund_id)
    if status != "refunded":
        return IgnoredFact("no_money_moved")
    currency = amounts.currency(shapes.at(refund, "amount", "currency"))
    return RefundFact(
        refund_id=refund_id,
        sale_ids=(payment_id,),
        amount_cents=amounts.from_decimal(shapes.at(refund, "amount", "value"), currency),
        currency=currency,
        refunded_at=at,
        reason=shapes.text(refund, "description"),
    )


def _chargeback(chargeback: Any, payment_id: str, *, is_back: bool = False) -> Fact:
    reversed_at = shapes.at(chargeback, "reversedAt")
    is_won = is_back or reversed_at is not None
    currency = amounts.currency(shapes.at(chargeback, "amount", "currency"))
    return DisputeFact(
        dispute_id=shapes.needed(chargeback, "id"),
        sale_ids=(payment_id,),
        state=DisputeState.Won if is_won else DisputeState.Lost,
        at=shapes.moment(chargeback, "createdAt") if reversed_at is None else shapes.moment(reversed_at),
        amount_cents=amounts.from_decimal(shapes.at(chargeback, "amount", "value"), currency),
        currency=currency,
    )


def _entity(event: Any) -> Any:
    return shapes.at(event, "_embedded", "entity")


def _fields(written: str) -> Mapping[str, str]:
    if "{" not in written:
        return referrals.fields_from_query(written)
    try:
        return shapes.table(parsed(written.encode()))
    except ValueError:
        return {}


def _net(payment: Any, paid: int, currency: str) -> int | None:
    """Return what was paid without tax and delivery; None where a line's is unknown."""
    lines = shapes.items(payment, "lines")
    return amounts.subtract_parts(paid, _sum_apart(lines, currency)) if lines else None


def _sum_apart(lines: list[Any], currency: str) -> int | None:
    """Return the tax of all lines and the whole of those that are delivery; a discount gives its tax back."""
    total = 0
    for line in lines:
        whole = shapes.text(line, "totalAmount", "value") or ""
        tax = shapes.text(line, "vatAmount", "value") or ""
        is_discount = whole.startswith("-")
        figure = whole if shapes.text(line, "type") == _SHIPPING else tax
        apart = amounts.parse_exact_decimal(figure.removeprefix("-") if is_discount else figure, currency)
        if apart is None:
            return None
        total += -apart if is_discount else apart
    return total if total >= 0 else None
