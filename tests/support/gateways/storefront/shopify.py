"""A fake Shopify: orders, refunds, disputes, the access token, and the GraphQL queries of the service."""

import base64
import hashlib
import hmac
import json
from typing import Any

from adapters.gateways.storefront.shopify import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage
from tests.support.gateways.storefront.shopify_codes import ShopifyCodes
from tests.support.gateways.storefront.shopify_pixels import ShopifyPixels

SHOP, CLIENT, SECRET, TOKEN = "mugs.myshopify.com", "client_fake", "shpss_fake", "shpca_fake"
_FIRST_ORDER = 9_007_199_254_740_993  # a float cannot represent this number
_STATUSES = {"opened": "needs_response", "lost": "lost", "won": "won"}
_TAKEN = {"field": ["uri"], "message": "Address for this topic has already been taken"}


class ShopifyStage(Stage):
    """A fake Shopify; a purchase is an order with the slug in its cart, a renewal an order of a subscription app."""

    gateway = GATEWAY
    credentials = {"shopDomain": SHOP, "clientId": CLIENT, "clientSecret": SECRET}
    unsupported = {
        "trial": "Trials of subscription apps are not reported.",
        "time": missing_acts.PROOF_HAS_NO_TIME,
        "pay_part": missing_acts.ONE_SALE_PER_ORDER,
    }

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.codes = ShopifyCodes(self.number)
        self.pixels = ShopifyPixels()
        self.token = TOKEN
        self.scopes = ["read_orders", "read_shopify_payments_disputes"]
        self.tokens_given = 0
        self.orders: dict[str, dict[str, Any]] = {}
        self.refunded: dict[str, int] = {}
        self.journeys: dict[str, dict[str, Any]] = {}
        self.unreadable: set[str] = set()
        self.hooks: dict[str, dict[str, str]] = {}

    def is_authorized(self, call: ApiCall) -> bool:
        if call.path == "/admin/oauth/access_token":
            return call.form["client_id"] == [CLIENT] and call.form["client_secret"] == [SECRET]
        return call.headers.get("X-Shopify-Access-Token") == self.token

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/admin/oauth/access_token":
            self.tokens_given += 1
            return 200, {"access_token": self.token, "scope": ",".join(self.scopes), "expires_in": 86399}
        if call.path != "/admin/api/2026-10/graphql.json":
            return 404, {"errors": "Not Found"}
        if (coded := self.codes.answer(call)) is not None:
            return coded
        if (payload := self.pixels.answer(call)) is not None:
            return payload
        name = call.json["query"].split("(")[0].split("{")[0].split()[1]
        reply = getattr(self, f"_reply_to_{name.lower()}")(call.json["variables"])
        return 200, {"data": reply, "extensions": {"cost": {"requestedQueryCost": 3}}}

    def pay(self, purchase: Purchase) -> Sale:
        order_id = str(_FIRST_ORDER + self.number())
        order = {
            "id": int(order_id),
            "created_at": self._format_now(),
            "processed_at": self._format_now(),
            "cancelled_at": None,
            "test": purchase.is_test,
            "source_name": "subscription_contract_checkout_one" if purchase.renews else "web",
            "financial_status": "paid",
            "currency": purchase.currency,
            "presentment_currency": "CAD",
            "taxes_included": False,
            "total_price": _money(purchase.cents),
            "total_tax": "0.00",
            "total_shipping_price_set": {"shop_money": {"amount": "0.00", "currency_code": purchase.currency}},
            "email": purchase.email,
            "customer": {"id": int(f"70{purchase.customer}"), "first_name": "Ann", "last_name": "Buyer"},
            "note_attributes": [{"name": "affiliate_slug", "value": purchase.slug}] if purchase.slug else [],
            "landing_site": "/products/mug",
            "discount_codes": [{"code": purchase.code, "amount": "1.00"}] if purchase.code else [],
            "line_items": [{"id": 1, "properties": []}],
        }
        self.orders[order_id] = order
        return Sale(purchase, order_id, (self.notify("orders/paid", order),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        self.refunded[sale.id] = self.refunded.get(sale.id, 0) + cents
        whole = self.refunded[sale.id] == sale.purchase.cents
        self.orders[sale.id]["financial_status"] = "refunded" if whole else "partially_refunded"
        transaction = {
            "kind": "refund",
            "status": "success",
            "amount": _money(cents),
            "currency": sale.purchase.currency,
        }
        payload = {
            "id": 880_000 + self.number(),
            "order_id": int(sale.id),
            "processed_at": self._format_now(),
            "transactions": [transaction],
        }
        return (self.notify("refunds/create", payload),)

    def cancel(self, sale: Sale) -> tuple[Notification, ...]:
        return self._change_order(sale, financial_status="voided", cancelled_at=self._format_now())

    def pay_again(self, sale: Sale) -> tuple[Notification, ...]:
        return self._change_order(sale, financial_status="paid", cancelled_at=None)

    def change_total(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        # total_price stays when lines are removed; current_total_price also subtracts refunds.
        total = max(cents, sale.purchase.cents)
        return self._change_order(sale, total_price=_money(total), current_total_price=_money(cents))

    def _change_order(self, sale: Sale, **fields: Any) -> tuple[Notification, ...]:
        order = self.orders[sale.id]
        order |= {"updated_at": self._format_now(), **fields}
        return (self.notify("orders/updated", order),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        payload = {
            "id": 285_000 + int(sale.id) % 1000,
            "order_id": int(sale.id),
            "type": "chargeback",
            "status": _STATUSES[state],
            "amount": _money(sale.purchase.cents),
            "currency": sale.purchase.currency,
            "initiated_at": self._format_now(),
        }
        return (self.notify("disputes/create" if state == "opened" else "disputes/update", payload),)

    def uninstall(self) -> tuple[Notification, ...]:
        return (self.notify("app/uninstalled", {"id": 548380009, "myshopify_domain": SHOP}),)

    def create_unknown_event(self) -> Notification:
        return self.notify("app/scopes_update", {"id": 1, "current": ["read_orders"]})

    def create_malformed_event(self) -> Notification:
        return self.notify("orders/paid", {"id": 5678901234567, "currency": "USD", "total_price": "a lot"})

    def sign_body(self, body: bytes) -> Notification:
        return sign("orders/paid", body)

    def notify(self, topic: str, payload: dict[str, Any]) -> Notification:
        """Return a webhook with a topic."""
        return sign(topic, json.dumps(payload).encode(), webhook_id=f"b54557e4-{self.number()}")

    def _format_now(self) -> str:
        return self.now.isoformat(timespec="seconds")

    def _reply_to_check(self, variables: dict[str, Any]) -> dict[str, Any]:
        scopes = [{"handle": scope} for scope in self.scopes]
        return {
            "shop": {"myshopifyDomain": SHOP, "currencyCode": "USD"},
            "currentAppInstallation": {"accessScopes": scopes},
        }

    def _reply_to_hooks(self, variables: dict[str, Any]) -> dict[str, Any]:
        return {"webhookSubscriptions": {"nodes": list(self.hooks.values())}}

    def _reply_to_hook(self, variables: dict[str, Any]) -> dict[str, Any]:
        created = {"id": f"gid://shopify/WebhookSubscription/{self.number()}", **variables}
        errors = []
        if any((hook["topic"], hook["uri"]) == (created["topic"], created["uri"]) for hook in self.hooks.values()):
            errors = [_TAKEN]
        if created["topic"].startswith("DISPUTES") and "read_shopify_payments_disputes" not in self.scopes:
            errors = [{"field": ["topic"], "message": "You cannot create a webhook subscription with this topic"}]
        if not errors:
            self.hooks[created["id"]] = created
        return {"webhookSubscriptionCreate": {"webhookSubscription": None if errors else created, "userErrors": errors}}

    def _reply_to_unhook(self, variables: dict[str, Any]) -> dict[str, Any]:
        gone = self.hooks.pop(variables["id"], None)
        errors = [] if gone else [{"message": "Webhook subscription does not exist"}]
        return {"webhookSubscriptionDelete": {"deletedWebhookSubscriptionId": None, "userErrors": errors}}

    def _reply_to_journey(self, variables: dict[str, Any]) -> dict[str, Any]:
        order_id = variables["id"].rpartition("/")[2]
        summary = self.journeys.get(order_id, {"ready": True, "firstVisit": None, "lastVisit": None})
        return {"order": {"customerJourneySummary": summary} if order_id in self.orders else None}

    def _reply_to_refunded(self, variables: dict[str, Any]) -> dict[str, Any]:
        order_id = variables["id"].rpartition("/")[2]
        existing = order_id in self.orders and order_id not in self.unreadable
        return {
            "shop": {"currencyCode": "USD"},
            "order": {"totalRefundedSet": self._refunded_amount(order_id)} if existing else None,
        }

    def _reply_to_orders(self, variables: dict[str, Any]) -> dict[str, Any]:
        matches = [self._node(order_id) for order_id in self.orders]
        first = int(variables["after"] or 0)
        page = {"hasNextPage": len(matches) > first + 2, "endCursor": str(first + 2)}
        return {"orders": {"nodes": matches[first : first + 2], "pageInfo": page}}

    def _node(self, order_id: str) -> dict[str, Any]:
        order = self.orders[order_id]
        return {
            "legacyResourceId": order_id,
            "createdAt": order["created_at"],
            "processedAt": order["processed_at"],
            "updatedAt": order.get("updated_at", order["processed_at"]),
            "cancelledAt": order["cancelled_at"],
            "test": order["test"],
            "sourceName": order["source_name"],
            "displayFinancialStatus": order["financial_status"].upper(),
            "currencyCode": order["currency"],
            "taxesIncluded": False,
            "email": order["email"],
            "discountCodes": [item["code"] for item in order["discount_codes"]],
            "totalPriceSet": {"shopMoney": {"amount": order["total_price"]}},
            "currentTotalPriceSet": {"shopMoney": {"amount": order.get("current_total_price", order["total_price"])}},
            "totalTaxSet": {"shopMoney": {"amount": "0.0"}},
            "totalShippingPriceSet": {"shopMoney": {"amount": "0.0"}},
            "totalRefundedSet": self._refunded_amount(order_id),
            "customer": {"legacyResourceId": str(order["customer"]["id"]), "firstName": "Ann", "lastName": "Buyer"},
            "customAttributes": [{"key": note["name"], "value": note["value"]} for note in order["note_attributes"]],
        }

    def _refunded_amount(self, order_id: str) -> dict[str, Any]:
        cents = self.refunded.get(order_id, 0)
        return {"shopMoney": {"amount": _money(cents), "currencyCode": self.orders[order_id]["currency"]}}


def sign(
    topic: str, body: bytes, *, webhook_id: str | None = None, secret: str = SECRET, shop: str = SHOP
) -> Notification:
    """Return a body with Shopify's signature."""
    digest = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
    headers = {"X-Shopify-Topic": topic, "X-Shopify-Hmac-Sha256": digest, "X-Shopify-Shop-Domain": shop}
    if webhook_id:
        headers["X-Shopify-Webhook-Id"] = webhook_id
    return Notification(body, {**headers, "Content-Type": "application/json"})


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
