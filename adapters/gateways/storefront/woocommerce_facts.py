"""Translates a woocommerce order: a payment once it is paid, its total, and every refund in it by its id.

The total of an order does not deduct its refunds. A status that means that no money came reverses the payment.

Times are read from the fields in GMT, which have no zone; the others are in the shop's own.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

import orjson

from adapters.gateways import shapes
from domain import links
from domain.gateways import amounts, referrals
from domain.gateways.facts import (
    BuyerOrigin,
    CancelledFact,
    Carrier,
    Fact,
    Facts,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    TotalFact,
)

LISTED_REFUND, LISTED_CHANGE = "reconcile.refund", "reconcile.change"

#: Topics whose body is an order as it was when it was sent.
CHANGED = ("order.created", "order.updated", "order.restored")
DELETED = "order.deleted"
#: When an order was deleted, which its body lacks; or restored, which may not count as a change of it.
RECEIVED_AT = "finderfee_received_at"

_PAID = frozenset({"processing", "completed", "refunded"})
_NO_MONEY = frozenset({"cancelled", "failed", "trash"})
_SLUG_META, _ENTRY_META, _RENEWAL_META = (
    "_affiliate_via",
    "_wc_order_attribution_session_entry",
    "_subscription_renewal",
)


def paid_at(order: Any) -> datetime | None:
    """Return when an order was paid; None for one that was not. Raises UnreadableEvent."""
    return shapes.moment(order, "date_paid_gmt") if shapes.get(order, "date_paid_gmt") else None


def of_order(order: Any) -> Facts:
    """Return the payment, or that it was taken back, and the refunds of an order that was paid.

    Raises UnreadableEvent, UnsupportedCurrency.
    """
    order_id, at, status = shapes.require(order, "id"), paid_at(order), shapes.text(order, "status")
    if at is None:
        return IgnoredFact("not_paid")
    facts: list[Fact] = []
    if status in _PAID:
        facts.append(_payment(order, at))
    elif status in _NO_MONEY:
        facts.append(CancelledFact(sale_ids=(order_id,), told_at=changed_at(order)))
    for refund in shapes.items(order, "refunds"):
        facts += shapes.read_alongside_sale(partial(_refunds_of, order, refund))
    return facts or IgnoredFact("not_paid")


def of_change(order: Any) -> Fact:
    """Return the total of a listed order, or that it was cancelled. Raises UnreadableEvent, UnsupportedCurrency."""
    order_id, at = shapes.require(order, "id"), changed_at(order)
    if shapes.text(order, "status") in _NO_MONEY:
        return CancelledFact(sale_ids=(order_id,), told_at=at)
    currency = amounts.currency(shapes.get(order, "currency"))
    paid = amounts.from_decimal(shapes.get(order, "total"), currency)
    return TotalFact(
        sale_ids=(order_id,),
        amount_cents=paid,
        total_cents=paid,
        currency=currency,
        told_at=at,
        net_cents=_net(order, paid, currency),
    )


def of_deleted(order: Any) -> Fact:
    """Return that an order was deleted. Raises UnreadableEvent."""
    return CancelledFact(sale_ids=(shapes.require(order, "id"),), told_at=shapes.moment(order, RECEIVED_AT))


def changed_at(order: Any) -> datetime:
    """Return when an order last changed. Raises UnreadableEvent."""
    modified = shapes.get(order, "date_modified_gmt")
    changed = shapes.moment(order, "date_modified_gmt" if modified else "date_paid_gmt")
    return max(changed, shapes.moment(order, RECEIVED_AT)) if shapes.get(order, RECEIVED_AT) else changed


def change_of(order: Any) -> str | None:
    """Return when a paid order changed later, by its list; None for one that is as it was paid."""
    status = shapes.text(order, "status")
    if status not in _PAID | _NO_MONEY:
        return None
    return shapes.later_change(
        lambda: shapes.moment(order, "date_paid_gmt"), lambda: changed_at(order), anyhow=status in _NO_MONEY
    )


def refunds(order: Any) -> Sequence[Fact]:
    """Return the refunds in an order: negative, gross. Raises UnreadableEvent, UnsupportedCurrency."""
    return [fact for refund in shapes.items(order, "refunds") for fact in _refunds_of(order, refund)]


def _refunds_of(order: Any, refund: Any) -> tuple[RefundFact, ...]:
    """Return a refund of an order; none where no money moved."""
    order_id, currency = shapes.require(order, "id"), amounts.currency(shapes.get(order, "currency"))
    cents = _positive(refund, currency)
    if not cents:
        return ()
    fact = RefundFact(
        refund_id=shapes.require(refund, "id"),
        sale_ids=(order_id,),
        amount_cents=cents,
        currency=currency,
        refunded_at=shapes.moment(order, "date_modified_gmt"),
    )
    return (fact,)


def _payment(order: Any, at: datetime) -> Fact:
    currency = amounts.currency(shapes.get(order, "currency"))
    paid = amounts.from_decimal(shapes.get(order, "total"), currency)
    customer = shapes.identity(order, "customer_id")
    meta = shapes.pairs(order, "meta_data", name="key")
    origin = BuyerOrigin(
        customer_id=customer if customer != "0" else None,
        email=shapes.text(order, "billing", "email"),
        name=shapes.full_name(shapes.get(order, "billing"), "first_name", "last_name"),
        subscription_id=meta.get(_RENEWAL_META),
        carriers=_carriers(order, meta),
        codes=tuple(
            RedeemedCode(code, "woocommerce_coupon_code", _coupon_id(line))
            for line in shapes.items(order, "coupon_lines")
            if (code := shapes.text(line, "code"))
        ),
    )
    return PaymentFact(
        external_id=shapes.require(order, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=at,
        origin=origin,
        net_cents=_net(order, paid, currency),
        told_at=changed_at(order),
    )


#: Translates an order, by the topic of its webhook or by how it was listed.
READERS: Mapping[str, Callable[[Any], Facts]] = {
    **dict.fromkeys(CHANGED, of_order),
    DELETED: of_deleted,
    LISTED_CHANGE: of_change,
    LISTED_REFUND: refunds,
}


def _coupon_id(line: Any) -> str | None:
    """Return the id of a line's coupon: `coupon_info` is a list as JSON text that begins with it, since 8.7.

    Before, `coupon_data` was the whole coupon. A coupon that a plugin made up has 0, which is the id of none.
    """
    meta = {shapes.text(item, "key"): shapes.get(item, "value") for item in shapes.items(line, "meta_data")}
    info = meta.get("coupon_info")
    if isinstance(info, str):
        try:
            info = orjson.loads(info)
        except orjson.JSONDecodeError:
            info = None
    first = info[0] if isinstance(info, list) and info else None
    coupon_id = shapes.identity({"id": first}, "id") or shapes.identity(meta.get("coupon_data"), "id")
    return coupon_id if coupon_id != "0" else None


def _carriers(order: Any, meta: Mapping[str, str]) -> tuple[Carrier, ...]:
    """Return the meta data of the order, then the page on which the visit began."""
    stamped = {name.lstrip("_"): value for name, value in meta.items()}
    if slug := meta.get(_SLUG_META):
        stamped.setdefault(referrals.SLUG_KEY, slug)
    whole = {shapes.text(item, "key"): shapes.get(item, "value") for item in shapes.items(order, "meta_data")}
    entry = links.fields_from_url(whole.get(_ENTRY_META))
    carriers = (Carrier("woocommerce_metadata", stamped), Carrier("woocommerce_url_param", entry))
    return tuple(carrier for carrier in carriers if carrier.fields)


def _net(order: Any, paid: int, currency: str) -> int | None:
    """Return the payment without tax and shipping (its own tax is in the tax); None where one is unknown."""
    parts = (shapes.get(order, name) for name in ("total_tax", "shipping_total"))
    return amounts.subtract_parts(paid, *(amounts.parse_exact_decimal(part, currency) for part in parts))


def _positive(refund: Any, currency: str) -> int:
    total = shapes.get(refund, "total")
    if isinstance(total, str):
        total = total.removeprefix("-")
    elif isinstance(total, int | Decimal) and not isinstance(total, bool):
        total = abs(total)
    return amounts.from_decimal(total, currency)
