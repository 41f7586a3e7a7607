"""Reads the totals of shopify's orders and whether they are paid, both for new orders and after every change.

An order that is edited, cancelled or voided is reported by its update, which names no affiliate. Its original total
stays when lines are removed; its current total is net of refunds too.
"""

from datetime import datetime
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount
from domain.gateways import amounts
from domain.gateways.facts import CancelledFact, Fact, IgnoredFact, TotalFact, UnreadableEvent

PAID = ("paid", "partially_refunded", "refunded")
NO_MONEY = ("voided", "expired")
#: The status of an order of which the rest is unpaid, as of one that was raised after it was paid.
PAID_IN_PART = "partially_paid"
# The statuses of an order that may hold money that no refund reports as returned when it is cancelled.
_CANCELLABLE = ("paid", PAID_IN_PART)
DELETED = "orders/delete"
#: When an order was deleted, which its body lacks.
DELETED_AT = "finderfee_deleted_at"


def changed_at(order: Any) -> datetime:
    """Return when an order last changed. Raises UnreadableEvent."""
    names = ("changed_at", "updated_at", "processed_at")
    return shapes.moment(order, next((name for name in names if shapes.get(order, name)), "created_at"))


def state(order: Any) -> Fact | None:
    """Return the fact of an order without money; None for one that is paid.

    A cancelled order that was refunded in part counts as paid, since its refunds are reported separately. One that was
    raised after it was paid is paid in part until the rest is paid.
    """
    status = (shapes.text(order, "financial_status") or "paid").lower()
    is_cancelled = shapes.get(order, "cancelled_at") is not None and status in _CANCELLABLE
    if status in NO_MONEY or is_cancelled:
        return CancelledFact(sale_ids=(shapes.require(order, "id"),), told_at=changed_at(order))
    return None if status in PAID else IgnoredFact("not_paid")


def totals(order: Any, currency: str) -> tuple[int, int]:
    """Return the amount paid for an order in all, without reductions by edits, and its present total."""
    total = amounts.from_decimal(shapes.get(order, "total_price"), currency)
    if shapes.get(order, "current_total_price") is None:
        return total, total
    current = amounts.from_decimal(shapes.get(order, "current_total_price"), currency)
    return min(total, current + _refunded_in(order, currency, otherwise=total)), min(total, current)


def totals_when_paid(order: Any, currency: str) -> tuple[int, int | None]:
    """Return the same amounts for the payment of an order: its total is enough, and the present one may be unknown."""
    total = amounts.from_decimal(shapes.get(order, "total_price"), currency)
    try:
        return totals(order, currency)
    except UnreadableEvent:
        return total, None


def _refunded_in(order: Any, currency: str, *, otherwise: int) -> int:
    """Return the sum of an order's refunds; `otherwise` if one of them is in another currency than the order."""
    if shapes.get(order, "total_refunded") is not None:
        return amounts.from_decimal(shapes.get(order, "total_refunded"), currency)
    parts = [part for refund in shapes.items(order, "refunds") for part in shapes.items(refund, "transactions")]
    done = [part for part in parts if (shapes.text(part, "kind"), shapes.text(part, "status")) == ("refund", "success")]
    if any(shapes.text(part, "currency") not in (None, currency) for part in done):
        return otherwise
    return sum(amounts.from_decimal(shapes.get(part, "amount"), currency) for part in done)


def read_changed_order(account: GatewayAccount, order: Any) -> Fact:
    """Read an order that changed: its total, or that it is cancelled. Its payment has an event of its own."""
    order_id, unpaid = shapes.require(order, "id"), state(order)
    if unpaid is not None:
        return unpaid
    currency = amounts.currency(shapes.get(order, "currency"))
    paid, total = totals(order, currency)
    return TotalFact(
        sale_ids=(order_id,),
        amount_cents=paid,
        total_cents=total,
        currency=currency,
        told_at=changed_at(order),
        net_cents=net(order, paid, currency),
    )


def read_deleted_order(account: GatewayAccount, order: Any) -> Fact:
    """Read an order that was deleted, by its id alone."""
    return CancelledFact(sale_ids=(shapes.require(order, "id"),), told_at=shapes.moment(order, DELETED_AT))


def net(order: Any, paid: int, currency: str) -> int | None:
    """Return the payment without tax and shipping; None where one is unknown.

    If prices include tax, shipping includes its own, which must not be subtracted twice.
    """
    tax = amounts.parse_exact_decimal(shapes.get(order, "total_tax"), currency)
    shipping = amounts.parse_exact_decimal(
        shapes.get(order, "total_shipping_price_set", "shop_money", "amount"), currency
    )
    if shapes.get(order, "taxes_included") is True:
        lines = (tax_line for line in shapes.items(order, "shipping_lines") for tax_line in _tax_lines(line))
        inside = [amounts.parse_exact_decimal(shapes.get(line, "price"), currency) for line in lines]
        shipping = None if shipping is None else amounts.subtract_parts(shipping, *inside)
    return amounts.subtract_parts(paid, tax, shipping)


def _tax_lines(line: Any) -> list[Any]:
    return shapes.items(line, "tax_lines")
