"""Translates bigcommerce's callbacks: orders by the number of their status, refunds by the money paid back.

Money is in the currency that was paid (`default_currency_code`): four decimals in orders, numbers in refunds.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.base import CredentialsRefused, GatewayRejected
from adapters.gateways.wire import GatewayApi
from domain.gateways import amounts
from domain.gateways.facts import (
    BuyerOrigin,
    CancelledFact,
    Carrier,
    DisconnectedFact,
    DisputeFact,
    DisputeState,
    Fact,
    Facts,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    TotalFact,
    UnreadableEvent,
)

Reader = Callable[[GatewayApi, Any], Facts]

_PAID = frozenset({"2", "3", "8", "9", "10", "11"})
_REFUNDED = frozenset({"4", "14"})
_DISPUTED = "13"
_NO_MONEY = frozenset({"5", "6"})  # cancelled, declined
LISTED_CHANGE = "reconcile/order"
_UNPAID = frozenset({"0", "1", "5", "6", "7", "12"})
_TEST_METHOD = "Test Payment Gateway"
_CODE = "bigcommerce_coupon_code"
# All but promotions.
_OLDER_COUPONS = frozenset({"0", "1", "2", "3", "4"})
_REFUNDS = "/v3/orders/payment_actions/refunds"
_ID = re.compile(r"[0-9]{1,19}")
# A shop's page may write this into the buyer's comment, such as via=anna.
_IN_COMMENT = re.compile(r"([A-Za-z_]{1,64})=([A-Za-z0-9._-]{1,64})")


def is_paid(order: Any) -> bool:
    """Return whether an order has been paid."""
    return shapes.text(order, "status_id") in {*_PAID, *_REFUNDED, _DISPUTED}


def refund_name(refund_id: str) -> str:
    """Return a refund's id as it is booked: the store counts refunds and orders each from one."""
    return f"refund:{refund_id}"


def _order(api: GatewayApi, event: Any) -> Facts:
    order = _read_order(api, event)
    order_id, status = shapes.require(order, "id"), shapes.text(order, "status_id") or ""
    if (unpaid := _state(order)) is not None:
        return unpaid
    before = shapes.text(event, "data", "status", "previous_status_id")
    # An order that was unpaid until this event is paid now; for any other only the time of the order is known.
    at = (
        shapes.moment(event, "created_at")
        if before in _UNPAID and shapes.get(event, "created_at")
        else placed_at(order)
    )
    facts: list[Fact] = [_payment(api, order, at)]
    if status in _REFUNDED:
        refunds = shapes.items(api.find(f"/v3/orders/{order_id}/payment_actions/refunds"), "data")
        for refund in refunds:
            facts += shapes.read_alongside_sale(partial(_refunds_of, order, refund))
    if _DISPUTED in (status, before):
        state = DisputeState.Opened if status == _DISPUTED else DisputeState.Won
        at = shapes.moment(event, "created_at") if shapes.get(event, "created_at") else placed_at(order)
        facts.append(DisputeFact(dispute_id=order_id, sale_ids=(order_id,), state=state, at=at))
    return tuple(facts)


def has_no_money(order: Any) -> bool:
    """Return whether an order is cancelled, declined or deleted."""
    return shapes.get(order, "is_deleted") is True or shapes.text(order, "status_id") in _NO_MONEY


def changed_at(order: Any) -> datetime:
    """Return when an order last changed. Raises UnreadableEvent."""
    return _date(order, "date_modified" if shapes.get(order, "date_modified") else "date_created")


def _state(order: Any) -> Fact | None:
    """Return the fact of an order without money; None for one that is paid."""
    if has_no_money(order):
        return CancelledFact(sale_ids=(shapes.require(order, "id"),), told_at=changed_at(order))
    return None if is_paid(order) else IgnoredFact("not_paid")


def _changed_order(api: GatewayApi, event: Any) -> Facts:
    """Read an order that changed: its total, or that it is cancelled. Its payment has an event of its status."""
    order = shapes.get(event, "order") or _read_order(api, event)
    if (unpaid := _state(order)) is not None:
        return unpaid
    currency = _currency(order)
    paid = amounts.from_decimal(shapes.get(order, "total_inc_tax"), currency)
    return TotalFact(
        sale_ids=(shapes.require(order, "id"),),
        amount_cents=paid,
        total_cents=paid,
        currency=currency,
        told_at=changed_at(order),
        net_cents=_net(order, paid, currency),
    )


def _refund(api: GatewayApi, event: Any) -> Facts:
    refund_id = _number(shapes.require(event, "data", "refund", "refund_id"))
    refund = shapes.get(api.find(f"{_REFUNDS}/{refund_id}"), "data")
    if refund is None:
        raise UnreadableEvent(f"the refund {refund_id} is not there")
    order = _read_order(api, {"data": {"id": shapes.require(refund, "order_id")}})
    return _refunds_of(order, refund) or (IgnoredFact("no_money_moved"),)


def _uninstallation(api: GatewayApi, event: Any) -> Facts:
    return DisconnectedFact("The app was uninstalled.")


READERS: Mapping[str, Reader] = {
    "store/order/created": _order,
    "store/order/statusUpdated": _order,
    "store/order/updated": _changed_order,
    "store/order/archived": _changed_order,
    LISTED_CHANGE: _changed_order,
    "store/order/refund/created": _refund,
    "store/app/uninstalled": _uninstallation,
}


def _read_order(api: GatewayApi, event: Any) -> Any:
    order_id = _number(shapes.require(event, "data", "id"))
    order = api.find(f"/v2/orders/{order_id}")
    if order is None:
        raise UnreadableEvent(f"the order {order_id} is not there")
    return order


def _number(text: str) -> str:
    """Return an id that is safe in an address. Raises UnreadableEvent."""
    if not _ID.fullmatch(text):
        raise UnreadableEvent("an id is not a number")
    return text


def _currency(order: Any) -> str:
    return amounts.currency(shapes.get(order, "default_currency_code") or shapes.get(order, "currency_code"))


def _payment(api: GatewayApi, order: Any, at: datetime) -> Fact:
    order_id, currency = shapes.require(order, "id"), _currency(order)
    paid, customer = (
        amounts.from_decimal(shapes.get(order, "total_inc_tax"), currency),
        shapes.identity(order, "customer_id"),
    )
    origin = BuyerOrigin(
        customer_id=customer if customer != "0" else None,
        email=shapes.text(order, "billing_address", "email"),
        name=shapes.full_name(shapes.get(order, "billing_address"), "first_name", "last_name"),
        carriers=_carriers(api, order, order_id),
        codes=tuple(_codes(api, order_id)),
        is_test=_is_test(api, order, order_id),
    )
    return PaymentFact(
        external_id=order_id,
        amount_cents=paid,
        currency=currency,
        paid_at=at,
        origin=origin,
        net_cents=_net(order, paid, currency),
        told_at=changed_at(order),
    )


def _carriers(api: GatewayApi, order: Any, order_id: str) -> tuple[Carrier, ...]:
    """Return the fields of the order and its cart, then those of the buyer's comment."""
    tables = [shapes.pairs(_read_optional(api, f"/v3/orders/{order_id}/metafields"), "data", name="key")]
    cart = shapes.text(order, "cart_id")
    if cart and re.fullmatch(r"[0-9A-Za-z-]{1,64}", cart):
        tables.append(shapes.pairs(_read_optional(api, f"/v3/carts/{cart}/metafields"), "data", name="key"))
    carriers = [Carrier("bigcommerce_metadata", fields) for fields in tables if fields]
    comment = dict(_IN_COMMENT.findall(shapes.text(order, "customer_message") or ""))
    return (*carriers, Carrier("bigcommerce_custom_field", comment)) if comment else tuple(carriers)


def _codes(api: GatewayApi, order_id: str) -> Iterator[RedeemedCode]:
    """Yield the codes of an order.

    Whether `coupon_id` is the id of the promotion or of its code is not documented: it is certain where a promotion
    with that id has the code. Older coupons have numbers of their own, and none of them was minted by us.
    """
    for coupon in shapes.items(_read_optional(api, f"/v2/orders/{order_id}/coupons")):
        text, coupon_id = shapes.text(coupon, "code"), shapes.identity(coupon, "coupon_id")
        if text is None or coupon_id is None:
            yield from [RedeemedCode(text, _CODE)] if text else []
        elif shapes.text(coupon, "type") in _OLDER_COUPONS:
            yield RedeemedCode(text, _CODE, f"coupon:{coupon_id}")
        else:
            codes = shapes.items(_read_optional(api, f"/v3/promotions/{shapes.segment(coupon_id)}/codes"), "data")
            is_promotion = any((shapes.text(code, "code") or "").upper() == text.upper() for code in codes)
            yield RedeemedCode(text, _CODE, coupon_id, is_promotion)


def _read_optional(api: GatewayApi, path: str) -> Any:
    """Return a part of an order; None where it is gone or where the token may not read it."""
    try:
        return api.get(path)
    except (CredentialsRefused, GatewayRejected):
        return None


def _is_test(api: GatewayApi, order: Any, order_id: str) -> bool:
    if shapes.text(order, "payment_method") == _TEST_METHOD:
        return True
    transactions = shapes.items(_read_optional(api, f"/v3/orders/{order_id}/transactions"), "data")
    return any(shapes.get(transaction, "test") is True for transaction in transactions)


def _net(order: Any, paid: int, currency: str) -> int | None:
    """Return the payment without tax and shipping; None where one is unknown.

    Shipping with its tax is taken where the order has no other.
    """
    tax, shipping = shapes.get(order, "total_tax"), shapes.get(order, "shipping_cost_ex_tax")
    if shipping is None:
        shipping = shapes.get(order, "shipping_cost_inc_tax")
    return amounts.subtract_parts(paid, *(amounts.parse_exact_decimal(part, currency) for part in (tax, shipping)))


def _refunds_of(order: Any, refund: Any) -> tuple[RefundFact, ...]:
    """Return a refund by the money paid back and not declined; none where that is 0."""
    order_id, currency = shapes.require(order, "id"), _currency(order)
    payments = shapes.items(refund, "payments")
    parts = [shapes.get(part, "amount") for part in payments if shapes.get(part, "is_declined") is not True]
    if not payments:
        parts = [shapes.get(refund, "total_amount")]
    cents = sum(amounts.from_decimal(part, currency) for part in parts)
    if not cents:
        return ()
    fact = RefundFact(
        refund_id=refund_name(shapes.require(refund, "id")),
        sale_ids=(order_id,),
        amount_cents=cents,
        currency=currency,
        refunded_at=shapes.moment(refund, "created"),
        reason=shapes.text(refund, "reason"),
    )
    return (fact,)


def placed_at(order: Any) -> datetime:
    """Return when an order was placed. Raises UnreadableEvent."""
    return _date(order, "date_created")


def _date(order: Any, name: str) -> datetime:
    """Return a date of an order: RFC 2822. Raises UnreadableEvent."""
    try:
        read = parsedate_to_datetime(shapes.text(order, name) or "")
    except (ValueError, TypeError, IndexError):
        return shapes.moment(order, name)
    return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
