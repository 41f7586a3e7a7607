"""Translates wix's events: orders once their payment status is PAID, refunds and chargebacks of their payments.

Ids and dates are written with or without an underscore in front, bodies as objects or as text: all are read.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.storefront import wix_proof
from domain.gateways import amounts
from domain.gateways.facts import (
    BuyerOrigin,
    CancelledFact,
    Carrier,
    DisconnectedFact,
    DisputeFact,
    DisputeState,
    Fact,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    StartFact,
    TotalFact,
    UnreadableEvent,
)

#: Reads an order by its id.
ReadOrder = Callable[[str], Any]
Reader = Callable[[ReadOrder, Any], Fact]

REFUNDED = frozenset({"PARTIALLY_REFUNDED", "FULLY_REFUNDED"})
REMOVED = "AppRemoved"
APPROVED = "wix.ecom.v1.order_approved"
REFUND = "wix.ecom.v1.order_transactions_refund_completed"
UPDATED = "wix.ecom.v1.order_updated"

_PAID = frozenset({"PAID", *REFUNDED})
# Of the payment, and of the order itself.
_NO_MONEY, _CANCELLED = frozenset({"CANCELED", "DECLINED", "VOIDED"}), frozenset({"CANCELED", "REJECTED"})
_TIME = "eventTime"
_ID = re.compile(r"[0-9A-Za-z-]{1,64}")


def body(event: Any) -> Any:
    """Return the object of an event, with the time of the event. Raises UnreadableEvent."""
    try:
        action = wix_proof.parse_text(shapes.get(event, "actionEvent"))
        content = wix_proof.parse_text(shapes.get(action, "body") or shapes.get(action, "bodyAsJson") or _entity(event))
    except ValueError as error:
        raise UnreadableEvent("the event's body is not JSON") from error
    return {**content, _TIME: shapes.get(event, _TIME)} if isinstance(content, Mapping) else content


def _entity(event: Any) -> Any:
    """Return the order of an event of its present state, in the form of an event of a change."""
    updated = wix_proof.parse_text(shapes.get(event, "updatedEvent"))
    order = shapes.get(updated, "currentEntity") or shapes.get(updated, "currentEntityAsJson")
    return {"order": wix_proof.parse_text(order)} if order else None


def own_id(value: Any) -> str:
    """Return the id of an object. Raises UnreadableEvent."""
    return shapes.identity(value, "_id") or shapes.require(value, "id")


def in_address(object_id: str) -> str:
    """Return an id that is safe in an address. Raises UnreadableEvent."""
    if not _ID.fullmatch(object_id):
        raise UnreadableEvent("an id is missing")
    return object_id


def currency(order: Any) -> str:
    """Return the currency of an order. Raises UnreadableEvent, UnsupportedCurrency."""
    return amounts.currency(shapes.get(order, "currency"))


def bought_at(order: Any) -> datetime:
    """Return when an order was placed. Raises UnreadableEvent."""
    names = ("purchasedDate", "createdDate", "_createdDate")
    return shapes.moment(order, next((name for name in names if shapes.get(order, name)), names[0]))


def changed_at(event: Any, order: Any) -> datetime:
    """Return when an order last changed. Raises UnreadableEvent."""
    name = next((name for name in ("updatedDate", "_updatedDate") if shapes.get(order, name)), None)
    if name is not None:
        return shapes.moment(order, name)
    return shapes.moment(event, _TIME) if shapes.get(event, _TIME) else bought_at(order)


def has_no_money(order: Any) -> bool:
    """Return whether an order is cancelled or rejected, or its payment declined."""
    return shapes.text(order, "paymentStatus") in _NO_MONEY or shapes.text(order, "status") in _CANCELLED


def went_back(refund: Any, in_currency: str) -> int:
    """Return the part of a refund that was paid back so far, in minor units. Raises UnreadableEvent."""
    done = [part for part in shapes.items(refund, "transactions") if shapes.text(part, "refundStatus") == "SUCCEEDED"]
    if done:
        return sum(_money(part, in_currency, "amount") for part in done)
    return _money(refund, in_currency, "summary", "refunded") if shapes.get(refund, "summary", "refunded") else 0


def _order(read_order: ReadOrder, event: Any) -> Fact:
    order = shapes.get(event, "order")
    order_id, lines = own_id(order), shapes.items(order, "lineItems")
    if shapes.get(order, "imported") is True:
        return IgnoredFact("imported")
    in_currency, at = currency(order), _paid_at(event, order)
    paid, origin = _money(order, in_currency, "priceSummary", "total"), _origin(order, lines)
    if has_no_money(order):
        return CancelledFact(sale_ids=(order_id,), told_at=changed_at(event, order))
    if paid == 0 and any(_is_trial(line) for line in (order, *lines)):
        return StartFact(external_id=order_id, started_at=at, origin=origin)
    if shapes.text(order, "paymentStatus") not in _PAID:
        return IgnoredFact("not_paid")
    return PaymentFact(
        external_id=order_id,
        amount_cents=paid,
        currency=in_currency,
        paid_at=at,
        origin=origin,
        net_cents=_net(order, paid, in_currency),
        told_at=changed_at(event, order),
    )


def _changed_order(read_order: ReadOrder, event: Any) -> Fact:
    """Read an order that changed: its total, or that it is cancelled. Its payment has an event of its own."""
    order = shapes.get(event, "order")
    order_id = own_id(order)
    if has_no_money(order):
        return CancelledFact(sale_ids=(order_id,), told_at=changed_at(event, order))
    if shapes.text(order, "paymentStatus") not in _PAID:
        return IgnoredFact("not_paid")
    in_currency = currency(order)
    paid = _money(order, in_currency, "priceSummary", "total")
    return TotalFact(
        sale_ids=(order_id,),
        amount_cents=paid,
        total_cents=paid,
        currency=in_currency,
        told_at=changed_at(event, order),
        net_cents=_net(order, paid, in_currency),
    )


def _paid_at(event: Any, order: Any) -> datetime:
    """Return when an order was paid: when it was placed, unless it was unpaid until the event."""
    placed, before = bought_at(order), shapes.text(event, "previousPaymentStatus")
    if before is None or before in _PAID or shapes.get(event, _TIME) is None:
        return placed
    return max(placed, shapes.moment(event, _TIME))


def _refund(read_order: ReadOrder, event: Any) -> Fact:
    refund, order_id = shapes.get(event, "refund"), shapes.require(event, "orderId")
    refund_id, at = own_id(refund), "createdDate" if shapes.get(refund, "createdDate") else "_createdDate"
    in_currency = currency(read_order(order_id))
    cents = went_back(refund, in_currency)
    if cents == 0:
        return IgnoredFact("no_money_moved")
    return RefundFact(
        refund_id=refund_id,
        sale_ids=(order_id,),
        amount_cents=cents,
        currency=in_currency,
        refunded_at=shapes.moment(refund, at),
        is_cumulative=True,
    )


def _chargeback(state: DisputeState) -> Reader:
    """Return the reader of a chargeback; wix reports one when its money was taken, or is back."""

    def read(read_order: ReadOrder, event: Any) -> Fact:
        order_id, chargeback = shapes.require(event, "orderId"), shapes.get(event, "chargeback")
        at = next((name for name in ("createdDate", "_createdDate") if shapes.get(chargeback, name)), None)
        order = read_order(order_id)
        return DisputeFact(
            dispute_id=own_id(chargeback),
            sale_ids=(order_id,),
            state=state,
            at=shapes.moment(chargeback, at) if at else bought_at(order),
            amount_cents=_money(chargeback, currency(order), "amount"),
            currency=currency(order),
        )

    return read


def _removal(read_order: ReadOrder, event: Any) -> Fact:
    return DisconnectedFact("The app was removed from the site.")


READERS: Mapping[str, Reader] = {
    "wix.ecom.v1.order_payment_status_updated": _order,
    APPROVED: _order,
    UPDATED: _changed_order,
    "wix.ecom.v1.order_canceled": _changed_order,
    REFUND: _refund,
    "wix.ecom.v1.order_transactions_chargeback_approved": _chargeback(DisputeState.Lost),
    "wix.ecom.v1.order_transactions_chargeback_reversed": _chargeback(DisputeState.Won),
    REMOVED: _removal,
}


def _origin(order: Any, lines: list[Any]) -> BuyerOrigin:
    buyer, person = shapes.get(order, "buyerInfo"), shapes.get(order, "billingInfo", "contactDetails")
    subscriptions = (shapes.identity(line, "subscriptionInfo", "id") for line in lines)
    return BuyerOrigin(
        customer_id=shapes.identity(buyer, "contactId") or shapes.identity(buyer, "memberId"),
        email=shapes.text(buyer, "email"),
        name=shapes.full_name(person, "firstName", "lastName"),
        subscription_id=next((subscription_id for subscription_id in subscriptions if subscription_id), None),
        carriers=_carriers(order),
        codes=tuple(
            RedeemedCode(text, "wix_coupon_code", coupon_id)
            for discount in shapes.items(order, "appliedDiscounts")
            for coupon in [shapes.get(discount, "coupon")]
            for text, coupon_id in [(shapes.text(coupon, "code") or "", shapes.identity(coupon, "id"))]
            if text or coupon_id
        ),
        is_test=shapes.get(order, "demo") is True,
    )


def _carriers(order: Any) -> tuple[Carrier, ...]:
    spaces = shapes.get(order, "extendedFields", "namespaces")
    tables = spaces.values() if isinstance(spaces, Mapping) else ()
    carriers = [Carrier("wix_custom_field", shapes.pairs(order, "customFields", name="title"))]
    carriers += [Carrier("wix_metadata", shapes.table(space)) for space in tables]
    return tuple(carrier for carrier in carriers if carrier.fields)


def _is_trial(holder: Any) -> bool:
    free_trial = shapes.get(holder, "payAfterFreeTrial") or shapes.get(holder, "subscriptionInfo", "payAfterFreeTrial")
    return bool(free_trial)


def _money(holder: Any, in_currency: str, *path: str) -> int:
    return amounts.from_decimal(shapes.get(holder, *path, "amount"), in_currency)


def _net(order: Any, paid: int, in_currency: str) -> int | None:
    """Return the payment without tax and shipping; None where one is unknown."""
    parts = (shapes.get(order, "priceSummary", name, "amount") for name in ("tax", "shipping"))
    return amounts.subtract_parts(paid, *(amounts.parse_exact_decimal(part, in_currency) for part in parts))
