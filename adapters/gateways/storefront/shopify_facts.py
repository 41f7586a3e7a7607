"""Translates shopify's webhooks, with reads at the shop: orders, refunds, disputes.

Money is booked in the shop's currency. A refund is the order's running total there, because a refund's webhook
also comes when no money moved; if the order can no longer be read, it is the refund's own transactions.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from adapters import clock
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected, GatewayUnreachable
from adapters.gateways.storefront import shopify_api, shopify_totals
from domain import links
from domain.gateways import amounts, referrals
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    DisconnectedFact,
    DisputeFact,
    DisputeState,
    Fact,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    UnreadableEvent,
)

Reader = Callable[[GatewayAccount, Any], Fact]

LISTED_REFUND = "reconcile/refund"

_PIXEL, _LANDING, _JOURNEY = "shopify_web_pixel", "shopify_landing_page", "shopify_customer_journey"
_CODE = "shopify_coupon_code"
_RENEWAL = "subscription_contract"
# A journey is known minutes after its order; where nothing else names anybody, it is waited for so long.
_JOURNEY_KNOWN_AFTER = timedelta(minutes=15)

_VISITS = """customerJourneySummary {
  ready firstVisit { landingPage referralCode } lastVisit { landingPage referralCode }
}"""
_ORDER_JOURNEY = f"query Journey($id: ID!) {{ order(id: $id) {{ {_VISITS} }} }}"
_REFUNDED = """query Refunded($id: ID!) {
  shop { currencyCode } order(id: $id) { totalRefundedSet { shopMoney { amount currencyCode } } }
}"""
ORDERS = """query Orders($query: String!, $after: String) {
  orders(first: 100, after: $after, sortKey: UPDATED_AT, query: $query) {
    nodes {
      legacyResourceId createdAt processedAt updatedAt cancelledAt test sourceName displayFinancialStatus
      currencyCode taxesIncluded email discountCodes
      totalPriceSet { shopMoney { amount } } currentTotalPriceSet { shopMoney { amount } }
      totalTaxSet { shopMoney { amount } }
      totalShippingPriceSet { shopMoney { amount } } totalRefundedSet { shopMoney { amount currencyCode } }
      customer { legacyResourceId firstName lastName } customAttributes { key value }
    }
    pageInfo { hasNextPage endCursor }
  }
}"""


def of_node(node: Any) -> dict[str, Any]:
    """Return an order of the list in the words of its webhook."""
    customer = shapes.get(node, "customer")
    names = {"first_name": shapes.get(customer, "firstName"), "last_name": shapes.get(customer, "lastName")}
    codes = shapes.get(node, "discountCodes")
    return {
        "id": shapes.get(node, "legacyResourceId"),
        "created_at": shapes.get(node, "createdAt"),
        "processed_at": shapes.get(node, "processedAt"),
        "cancelled_at": shapes.get(node, "cancelledAt"),
        "test": shapes.get(node, "test"),
        "source_name": shapes.get(node, "sourceName"),
        "financial_status": shapes.get(node, "displayFinancialStatus"),
        "currency": shapes.get(node, "currencyCode"),
        "taxes_included": shapes.get(node, "taxesIncluded"),
        "total_price": shapes.get(node, "totalPriceSet", "shopMoney", "amount"),
        "current_total_price": shapes.get(node, "currentTotalPriceSet", "shopMoney", "amount"),
        "total_refunded": shapes.get(node, "totalRefundedSet", "shopMoney", "amount"),
        "changed_at": shapes.get(node, "updatedAt"),
        "total_tax": shapes.get(node, "totalTaxSet", "shopMoney", "amount"),
        "total_shipping_price_set": {"shop_money": shapes.get(node, "totalShippingPriceSet", "shopMoney")},
        "email": shapes.get(node, "email"),
        "customer": {"id": shapes.get(customer, "legacyResourceId"), **names} if customer else None,
        "note_attributes": [
            {"name": shapes.get(pair, "key"), "value": shapes.get(pair, "value")}
            for pair in shapes.items(node, "customAttributes")
        ],
        "discount_codes": [{"code": code} for code in codes] if isinstance(codes, list) else [],
    }


def went_back(node: Any) -> dict[str, Any] | None:
    """Return amount, currency and last change of the refunds of a listed order; None without any."""
    money = shapes.get(node, "totalRefundedSet", "shopMoney")
    amount, currency = shapes.text(money, "amount"), shapes.text(money, "currencyCode")
    if amount is None or not amount.strip("0."):
        return None
    return {"amount": amount, "currency": currency, "processed_at": shapes.get(node, "updatedAt")}


def _paid_at(order: Any) -> datetime:
    """Return when an order was paid: at its last change where its webhook has one, else when it was placed.

    Raises UnreadableEvent.
    """
    placed = shapes.moment(order, "processed_at" if shapes.get(order, "processed_at") else "created_at")
    return max(placed, shapes.moment(order, "updated_at")) if shapes.get(order, "updated_at") else placed


def _order(account: GatewayAccount, order: Any) -> Fact:
    order_id, unpaid = shapes.require(order, "id"), shopify_totals.state(order)
    if unpaid is not None:
        return unpaid
    currency = amounts.currency(shapes.get(order, "currency"))
    (paid, total), at = shopify_totals.totals_when_paid(order, currency), _paid_at(order)
    carriers = _carriers(order)
    origin = BuyerOrigin(
        customer_id=shapes.identity(order, "customer", "id"),
        email=next((value for name in ("email", "contact_email") if (value := shapes.text(order, name))), None)
        or shapes.text(order, "customer", "email"),
        name=shapes.full_name(shapes.get(order, "customer"), "first_name", "last_name"),
        carriers=(*carriers, *_journey(account, order, carriers, at)),
        codes=tuple(
            RedeemedCode(code, _CODE)
            for item in shapes.items(order, "discount_codes")
            if (code := shapes.text(item, "code"))
        ),
        is_test=shapes.get(order, "test") is True,
        checkout=shapes.text(order, "checkout_token"),
    )
    return PaymentFact(
        external_id=order_id,
        amount_cents=paid,
        currency=currency,
        paid_at=at,
        origin=origin,
        net_cents=shopify_totals.net(order, paid, currency),
        told_at=shopify_totals.changed_at(order),
        total_cents=total,
    )


def _carriers(order: Any) -> tuple[Carrier, ...]:
    """Return the fields of the cart, then of the landing page. Names that begin with _ are hidden from the buyer."""
    notes = [shapes.pairs(order, "note_attributes")]
    notes += [shapes.pairs(line, "properties") for line in shapes.items(order, "line_items")]
    carriers = [Carrier(_PIXEL, {name.lstrip("_"): value for name, value in note.items()}) for note in notes if note]
    landing = links.fields_from_url(shapes.get(order, "landing_site"))
    if not landing and (reference := shapes.text(order, "landing_site_ref")):
        landing = {"ref": reference}
    return (*carriers, Carrier(_LANDING, landing)) if landing else tuple(carriers)


def _journey(account: GatewayAccount, order: Any, carriers: tuple[Carrier, ...], at: datetime) -> tuple[Carrier, ...]:
    """Read the visits before an order, but for a renewal or an order that names an affiliate."""
    is_renewal = (shapes.text(order, "source_name") or "").startswith(_RENEWAL)
    if is_renewal or any(referrals.SLUG_KEY in carrier.fields for carrier in carriers):
        return ()
    try:
        data = shopify_api.graphql(account, _ORDER_JOURNEY, {"id": _gid(order)})
    except GatewayRejected:  # a scope is missing
        return ()
    journey = shapes.get(data, "order", "customerJourneySummary")
    if shapes.get(journey, "ready") is False and not carriers and clock.now() - at < _JOURNEY_KNOWN_AFTER:
        raise GatewayUnreachable("the visits before the order are not known yet")
    visits = (shapes.get(journey, name) for name in ("lastVisit", "firstVisit"))
    queries = [links.fields_from_url(shapes.get(visit, "landingPage")) for visit in visits if visit]
    return tuple(Carrier(_JOURNEY, fields) for fields in queries if fields)


def _refund(account: GatewayAccount, refund: Any) -> Fact:
    refund_id, order_id = shapes.require(refund, "id"), shapes.require(refund, "order_id")
    at = shapes.moment(refund, "processed_at" if shapes.get(refund, "processed_at") else "created_at")
    data = shopify_api.graphql(account, _REFUNDED, {"id": f"gid://shopify/Order/{order_id}"})
    money = shapes.get(data, "order", "totalRefundedSet", "shopMoney")
    if money is None:
        return _refund_by_transactions(refund, refund_id, order_id, at, shapes.text(data, "shop", "currencyCode"))
    return _listed_refund(
        account,
        {
            "order_id": order_id,
            "amount": shapes.get(money, "amount"),
            "currency": shapes.get(money, "currencyCode"),
            "processed_at": at.isoformat(),
        },
    )


def _listed_refund(account: GatewayAccount, refund: Any) -> Fact:
    order_id, currency = shapes.require(refund, "order_id"), amounts.currency(shapes.get(refund, "currency"))
    cents = amounts.from_decimal(shapes.get(refund, "amount"), currency)
    if cents == 0:
        return IgnoredFact("no_money_moved")
    return RefundFact(
        refund_id=order_id,
        sale_ids=(order_id,),
        amount_cents=cents,
        currency=currency,
        refunded_at=shapes.moment(refund, "processed_at"),
        is_cumulative=True,
    )


def _refund_by_transactions(
    refund: Any, refund_id: str, order_id: str, at: datetime, shop_currency: str | None
) -> Fact:
    """Read a refund by its own transactions. Raises UnreadableEvent where they do not have the amount."""
    back = [item for item in shapes.items(refund, "transactions") if shapes.text(item, "kind") == "refund"]
    done = [item for item in back if shapes.text(item, "status") == "success"]
    currencies = {shapes.text(item, "currency") for item in back}
    if not done or len(done) < len(back) or currencies != {shop_currency}:
        raise UnreadableEvent(f"the order {order_id} may not be read: the app needs the scope read_all_orders")
    currency = amounts.currency(shop_currency)
    return RefundFact(
        refund_id=refund_id,
        sale_ids=(order_id,),
        amount_cents=sum(amounts.from_decimal(shapes.get(item, "amount"), currency) for item in done),
        currency=currency,
        refunded_at=at,
    )


def _dispute(account: GatewayAccount, dispute: Any) -> Fact:
    dispute_id, status = shapes.require(dispute, "id"), shapes.text(dispute, "status") or ""
    order_id = shapes.identity(dispute, "order_id")
    state = _STATES.get(status)
    if shapes.text(dispute, "type") != "chargeback" or state is None or order_id is None:
        return IgnoredFact("no_money_moved")
    at = shapes.moment(dispute, "finalized_on" if shapes.get(dispute, "finalized_on") else "initiated_at")
    currency = amounts.currency(shapes.get(dispute, "currency"))
    return DisputeFact(
        dispute_id=dispute_id,
        sale_ids=(order_id,),
        state=state,
        at=at,
        amount_cents=amounts.from_decimal(shapes.get(dispute, "amount"), currency),
        currency=currency,
    )


def _uninstallation(account: GatewayAccount, app: Any) -> Fact:
    shapes.require(app, "id")
    return DisconnectedFact("The app was uninstalled.")


def _gid(order: Any) -> str:
    return f"gid://shopify/Order/{shapes.require(order, 'id')}"


# A refund or a prevention ends the dispute; money that was returned for it is reported as a refund.
_STATES: Mapping[str, DisputeState] = {
    "needs_response": DisputeState.Opened,
    "under_review": DisputeState.Opened,
    "won": DisputeState.Won,
    "prevented": DisputeState.Won,
    "charge_refunded": DisputeState.Won,
    "lost": DisputeState.Lost,
    "accepted": DisputeState.Lost,
}
READERS: Mapping[str, Reader] = {
    "orders/paid": _order,
    "orders/updated": shopify_totals.read_changed_order,
    shopify_totals.DELETED: shopify_totals.read_deleted_order,
    "refunds/create": _refund,
    LISTED_REFUND: _listed_refund,
    "disputes/create": _dispute,
    "disputes/update": _dispute,
    "app/uninstalled": _uninstallation,
}
