"""A fake Wix: orders and payments of a site, the access token, and events as signed tokens."""

import json
import time
from typing import Any

from joserfc import jws
from joserfc.jwk import RSAKey

from adapters.gateways.storefront.wix import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage
from tests.support.gateways.storefront.wix_codes import WixCodes

APP, SECRET, INSTANCE, TOKEN = "app_fake", "app_secret_fake", "11111111-2222-4333-8444-555555555555", "wix_token_fake"
SITE = "55555555-2222-4333-8444-555555555555"
KEY = RSAKey.generate_key(2048)
PAID, REFUND = "wix.ecom.v1.order_payment_status_updated", "wix.ecom.v1.order_transactions_refund_completed"
CANCELED, UPDATED = "wix.ecom.v1.order_canceled", "wix.ecom.v1.order_updated"
_CHARGEBACKS = {"lost": "chargeback_approved", "won": "chargeback_reversed"}


class WixStage(Stage):
    """A fake Wix; a purchase is an order with a custom field for the slug, a renewal an order of a later cycle."""

    gateway = GATEWAY
    credentials = {
        "appId": APP,
        "appSecret": SECRET,
        "instanceId": INSTANCE,
        "publicKey": KEY.as_pem(private=False).decode(),
    }
    unsupported = {
        "dispute_opened": missing_acts.NO_DISPUTE_EVENTS,
        "pay_part": missing_acts.ONE_SALE_PER_ORDER,
    }

    def __init__(self) -> None:
        super().__init__()
        self.codes = WixCodes(self.number)
        self.tokens_given = 0
        self.token = TOKEN
        self.orders: dict[str, dict[str, Any]] = {}
        self.refunds: dict[str, list[dict[str, Any]]] = {}

    def is_authorized(self, call: ApiCall) -> bool:
        if call.path == "/oauth2/token":
            reply = (call.json["client_id"], call.json["client_secret"], call.json["instance_id"])
            return reply == (APP, SECRET, INSTANCE)
        return call.headers.get("Authorization") == self.token

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/oauth2/token":
            self.tokens_given += 1
            return 200, {"access_token": self.token, "token_type": "Bearer", "expires_in": 14400}
        if call.path == "/apps/v1/instance":
            return 200, {"instance": {"instanceId": INSTANCE}, "site": {"siteId": SITE, "paymentCurrency": "USD"}}
        if call.path == "/ecom/v1/orders/search":
            return 200, self._page(call.json["search"])
        if (coded := self.codes.answer(call)) is not None:
            return coded
        order_id = call.path.rpartition("/")[2]
        if order_id not in self.orders:
            return 404, {"message": "order not found", "details": {}}
        if call.path.startswith("/ecom/v1/payments/orders/"):
            matches = {"orderId": order_id, "payments": [], "refunds": self.refunds.get(order_id, [])}
            return 200, {"orderTransactions": matches}
        return 200, {"order": self.orders[order_id]}

    def pay(self, purchase: Purchase) -> Sale:
        order = self._order(purchase, {"id": "5b", "cycleNumber": 2} if purchase.renews else None)
        payload = {"previousPaymentStatus": "NOT_PAID", "order": order}
        return Sale(purchase, order["id"], (self.notify(PAID, payload),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        refund = {
            "id": f"4e000000-0000-4000-8000-{self.number():012}",
            "createdDate": self._format_now(),
            "transactions": [{"paymentId": "7a", "amount": _money(cents), "refundStatus": "SUCCEEDED"}],
            "summary": {"refunded": _money(cents), "pendingRefund": _money(0), "pending": False},
        }
        self.refunds.setdefault(sale.id, []).append(refund)
        self.orders[sale.id]["paymentStatus"] = "PARTIALLY_REFUNDED"
        return (self.notify(REFUND, {"orderId": sale.id, "refund": refund}),)

    def cancel(self, sale: Sale) -> tuple[Notification, ...]:
        order = self._change_order(sale, status="CANCELED", paymentStatus="CANCELED")
        return (self.notify(CANCELED, {"order": order}),)

    def pay_again(self, sale: Sale) -> tuple[Notification, ...]:
        order = self._change_order(sale, status="APPROVED", paymentStatus="PAID")
        return (self.notify(PAID, {"previousPaymentStatus": "CANCELED", "order": order}),)

    def change_total(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        summary = {**self.orders[sale.id]["priceSummary"], "total": _money(cents)}
        order = self._change_order(sale, priceSummary=summary)
        return (self.notify(UPDATED, {}, actionEvent=None, updatedEvent={"currentEntity": order}),)

    def _change_order(self, sale: Sale, **fields: Any) -> dict[str, Any]:
        """Change an order and return a copy, so that sent events keep the earlier state."""
        self.orders[sale.id] = self.orders[sale.id] | {"updatedDate": self._format_now(), **fields}
        return self.orders[sale.id]

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        order = self._order(purchase, {"id": "5b", "cycleNumber": 1})
        order["lineItems"][0]["payAfterFreeTrial"] = _money(900)
        order["paymentStatus"] = "NOT_PAID"
        return (self.notify("wix.ecom.v1.order_approved", {"order": order}),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        chargeback = {"id": f"c4-{sale.id}", "amount": _money(sale.purchase.cents), "status": "APPROVED"}
        payload = {"orderId": sale.id, "paymentId": "7a", "chargeback": chargeback}
        return (self.notify(f"wix.ecom.v1.order_transactions_{_CHARGEBACKS[state]}", payload),)

    def uninstall(self) -> tuple[Notification, ...]:
        return (sign({"data": _pack_event("AppRemoved", {"appId": APP})}),)

    def create_unknown_event(self) -> Notification:
        return self.notify("wix.ecom.v1.order_fulfilled", {"order": {"id": "1"}})

    def create_malformed_event(self) -> Notification:
        order = {
            "id": "1",
            "currency": "USD",
            "createdDate": self._format_now(),
            "priceSummary": {"total": {"amount": "x"}},
        }
        return self.notify(PAID, {"order": order})

    def sign_body(self, body: bytes) -> Notification:
        return sign({"data": body.decode("utf-8", "replace")})

    def forge_signature(self, notification: Notification) -> Notification:
        header, payload, signature = notification.body.split(b".")
        other = sign({"data": "other"}).body.split(b".")[1]
        assert other != payload
        return Notification(b".".join([header, other, signature]), notification.headers)

    def sign_in_the_past(self, notification: Notification) -> Notification:
        return sign({"data": _pack_event(PAID, {})}, until=int(time.time()) - 301)

    def notify(self, kind: str, body: dict[str, Any], **other: Any) -> Notification:
        """Return an event of a kind."""
        event = {
            "id": f"e0000000-0000-4000-8000-{self.number():012}",
            "entityFqdn": "wix.ecom.v1.order",
            "eventTime": self._format_now(),
            "entityEventSequence": "42",
            "actionEvent": {"body": body},
            **other,
        }
        return sign({"data": _pack_event(kind, event)})

    def _format_now(self) -> str:
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _order(self, purchase: Purchase, cycle: dict[str, Any] | None) -> dict[str, Any]:
        coupon = {"id": self.codes.redeemed_id(purchase), "code": purchase.code}
        order = {
            "id": f"0d000000-0000-4000-8000-{self.number():012}",
            "createdDate": self._format_now(),
            "purchasedDate": self._format_now(),
            "status": "APPROVED",
            "paymentStatus": "PAID",
            "currency": purchase.currency,
            "priceSummary": {"tax": _money(0), "shipping": _money(0), "total": _money(purchase.cents)},
            "buyerInfo": {"contactId": f"cccc-{purchase.customer}", "email": purchase.email},
            "billingInfo": {"contactDetails": {"firstName": "Ann", "lastName": "Buyer"}},
            "appliedDiscounts": [{"coupon": coupon}] if purchase.code else [],
            "customFields": [{"title": "via", "value": purchase.slug}] if purchase.slug else [],
            "lineItems": [{"id": "1", "quantity": 1, "subscriptionInfo": cycle}],
            "imported": False,
            "demo": purchase.is_test,
        }
        self.orders[order["id"]] = order
        return order

    def _page(self, search: dict[str, Any]) -> dict[str, Any]:
        assert ("filter" in search) != ("cursor" in search["cursorPaging"])  # a cursor contains its filter
        first = int(search["cursorPaging"].get("cursor", "0"))
        matches = list(self.orders.values())
        following = str(first + 2) if len(matches) > first + 2 else None
        return {"orders": matches[first : first + 2], "metadata": {"cursors": {"next": following}}}


def sign(claims: dict[str, Any], *, until: int | None = None, key: RSAKey = KEY) -> Notification:
    """Return claims as Wix's signed token, valid until a time (Unix seconds; None: in an hour)."""
    now = int(time.time())
    payload = json.dumps({**claims, "iat": now, "exp": now + 3600 if until is None else until}).encode()
    token = jws.serialize_compact({"alg": "RS256", "kid": "k1"}, payload, key)
    return Notification(token.encode(), {"Content-Type": "text/plain"})


def _pack_event(kind: str, event: dict[str, Any]) -> str:
    return json.dumps({"eventType": kind, "instanceId": INSTANCE, "data": json.dumps(event)})


def _money(cents: int) -> dict[str, str]:
    return {"amount": f"{cents // 100}.{cents % 100:02}", "formattedAmount": "$"}
