"""What a woocommerce order means: a payment once it is paid, and every refund that stands in it, each by its id.

Times are read from the fields in GMT, which have no zone; the others are in the shop's own.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from adapters.gateways import events, shapes
from domain import links
from domain.gateways import amounts, referrals
from domain.gateways.facts import BuyerOrigin, Carrier, Fact, IgnoredFact, PaymentFact, RedeemedCode, RefundFact

LISTED_REFUND = "reconcile.refund"

_PAID = frozenset({"processing", "completed", "refunded"})
_SLUG_META, _ENTRY_META, _RENEWAL_META = (
    "_affiliate_via",
    "_wc_order_attribution_session_entry",
    "_subscription_renewal",
)


def paid_at(order: Any) -> datetime | None:
    """Return when an order was paid; None for one that was not. Raises UnreadableEvent."""
    return shapes.moment(order, "date_paid_gmt") if shapes.at(order, "date_paid_gmt") else None


def of_order(order: Any) -> Sequence[Fact]:
    """Return the payment, where the order is paid, and its refunds. Raises UnreadableEvent, UnsupportedCurrency."""
    shapes.needed(order, "id")
    at = paid_at(order)
    if at is None:
        return (IgnoredFact("not_paid"),)
    if shapes.text(order, "status") not in _PAID:
        return refunds(order) or (IgnoredFact("not_paid"),)
    facts = [_payment(order, at)]
    for refund in shapes.items(order, "refunds"):
        facts += events.read_alongside_sale(partial(_refunds_of, order, refund))
    return facts


def refunds(order: Any) -> Sequence[Fact]:
    """Return the refunds that stand in an order: negative, gross. Raises UnreadableEvent, UnsupportedCurrency."""
    return [fact for refund in shapes.items(order, "refunds") for fact in _refunds_of(order, refund)]


def _refunds_of(order: Any, refund: Any) -> tuple[RefundFact, ...]:
    """Return a refund of an order; nothing where no money went back."""
    order_id, currency = shapes.needed(order, "id"), amounts.currency(shapes.at(order, "currency"))
    cents = _positive(refund, currency)
    if not cents:
        return ()
    fact = RefundFact(
        refund_id=shapes.needed(refund, "id"),
        sale_ids=(order_id,),
        amount_cents=cents,
        currency=currency,
        refunded_at=shapes.moment(order, "date_modified_gmt"),
    )
    return (fact,)


def _payment(order: Any, at: datetime) -> Fact:
    currency = amounts.currency(shapes.at(order, "currency"))
    paid = amounts.of_decimal(shapes.at(order, "total"), currency)
    customer = shapes.identity(order, "customer_id")
    meta = shapes.pairs(order, "meta_data", name="key")
    origin = BuyerOrigin(
        customer_id=customer if customer != "0" else None,
        email=shapes.text(order, "billing", "email"),
        name=shapes.full_name(shapes.at(order, "billing"), "first_name", "last_name"),
        subscription_id=meta.get(_RENEWAL_META),
        carriers=_carriers(order, meta),
        codes=tuple(
            RedeemedCode(code, "woocommerce_coupon_code")
            for line in shapes.items(order, "coupon_lines")
            if (code := shapes.text(line, "code"))
        ),
    )
    return PaymentFact(
        external_id=shapes.needed(order, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=at,
        origin=origin,
        net_cents=_net(order, paid, currency),
    )


def _carriers(order: Any, meta: Mapping[str, str]) -> tuple[Carrier, ...]:
    """Return what the order was stamped with, then the page on which the visit began."""
    stamped = {name.lstrip("_"): said for name, said in meta.items()}
    if slug := meta.get(_SLUG_META):
        stamped.setdefault(referrals.SLUG_KEY, slug)
    whole = {shapes.text(item, "key"): shapes.at(item, "value") for item in shapes.items(order, "meta_data")}
    entry = links.fields_of(whole.get(_ENTRY_META))
    found = (Carrier("woocommerce_metadata", stamped), Carrier("woocommerce_url_param", entry))
    return tuple(carrier for carrier in found if carrier.fields)


def _net(order: Any, paid: int, currency: str) -> int | None:
    """Return what was paid without tax and shipping (its own tax is in the tax); None where one is unknown."""
    parts = (shapes.at(order, name) for name in ("total_tax", "shipping_total"))
    return amounts.subtract_parts(paid, *(amounts.parse_exact_decimal(part, currency) for part in parts))


def _positive(refund: Any, currency: str) -> int:
    total = shapes.at(refund, "total")
    if isinstance(total, str):
        total = total.removeprefix("-")
    elif isinstance(total, int | Decimal) and not isinstance(total, bool):
        total = abs(total)
    return amounts.of_decimal(total, currency)
