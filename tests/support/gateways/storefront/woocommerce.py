"""A fake WooCommerce: orders and webhooks of a shop, with or without permalinks."""

import base64
import hashlib
import hmac
import json
from typing import Any

from adapters.gateways.storefront.woocommerce import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage
from tests.support.gateways.storefront.woocommerce_codes import WooCommerceCodes

KEY, CONSUMER_SECRET, SECRET = "ck_fake", "cs_fake", "our_secret_fake"


class WooCommerceStage(Stage):
    """A fake WooCommerce; a purchase is an order marked by our plugin, a renewal one of the subscriptions plugin."""

    gateway = GATEWAY
    credentials = {"storeUrl": "https://shop.example.com", "consumerKey": KEY, "consumerSecret": CONSUMER_SECRET}
    subscription = {"webhooks": "12 13", "webhookSecret": SECRET}
    unsupported = {
        "test_flag": "Orders have no test flag.",
        "dispute_opened": "Chargebacks are not reported: refund the order when one is lost.",
        "dispute_lost": "Chargebacks are not reported: refund the order when one is lost.",
        "dispute_won": "Chargebacks are not reported: refund the order when one is lost.",
        "uninstall": missing_acts.UNINSTALL_IS_SILENT,
        "pay_part": missing_acts.ONE_SALE_PER_ORDER,
        "time": missing_acts.PROOF_HAS_NO_TIME,
    }

    def __init__(self) -> None:
        super().__init__()
        self.orders: dict[int, dict[str, Any]] = {}
        self.hooks: dict[str, dict[str, Any]] = {number: {"id": number, "status": "active"} for number in ("12", "13")}
        self.codes = WooCommerceCodes(self.number)
        self.secret = SECRET
        self.has_permalinks = True
        self.strips_header = False
        self.may_write = True

    def is_authorized(self, call: ApiCall) -> bool:
        keys = base64.b64encode(f"{KEY}:{CONSUMER_SECRET}".encode()).decode()
        if self.strips_header:  # `answer` responds as to a call without credentials
            return True
        return call.headers.get("Authorization") == f"Basic {keys}"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if self.strips_header and call.params.get("consumer_key") != [KEY]:
            return 401, {"code": "woocommerce_rest_cannot_view", "message": "Sorry, you cannot list resources."}
        path = call.params.get("rest_route", [""])[0]
        if not path:
            if not self.has_permalinks:
                return 404, b"<html>Not found</html>"
            path = call.path.partition("/wp-json")[2]
        path = path.removeprefix("/wc/v3")
        if (coded := self.codes.answer(call)) is not None:
            return coded
        if path == "/orders":
            return 200, self._page(call)
        if path == "/webhooks" and call.method == "POST":
            if not self.may_write:
                return 401, {"code": "woocommerce_rest_cannot_create", "message": "Sorry, you cannot create resources."}
            number = str(100 + self.number())
            self.secret = call.json["secret"]
            self.hooks[number] = {**call.json, "id": int(number)}
            return 201, self.hooks[number]
        hook = self.hooks.get(path.removeprefix("/webhooks/"))
        if hook is None:
            return 404, {"code": "woocommerce_rest_shop_webhook_invalid_id", "message": "Invalid ID."}
        if call.method == "DELETE":
            self.hooks.pop(str(hook["id"]))
        elif call.method == "PUT":
            hook.update(call.json)
        return 200, hook

    def pay(self, purchase: Purchase) -> Sale:
        order_id = 700 + self.number()
        meta = [{"id": 1, "key": "_affiliate_via", "value": purchase.slug}] if purchase.slug else []
        if purchase.renews:
            meta.append({"id": 2, "key": "_subscription_renewal", "value": "740"})
        order = {
            "id": order_id,
            "status": "processing",
            "created_via": "subscription" if purchase.renews else "checkout",
            "currency": purchase.currency,
            "date_paid": "2001-01-01T00:00:00",
            "date_paid_gmt": self._format_now(),
            "date_modified_gmt": self._format_now(),
            "total": _money(purchase.cents),
            "total_tax": "0.00",
            "shipping_total": "0.00",
            "customer_id": int(f"1{purchase.customer}"),
            "billing": {"first_name": "Ann", "last_name": "Buyer", "email": purchase.email},
            "meta_data": [*meta, {"id": 3, "key": "_odd", "value": {"any": ["json"]}}],
            "coupon_lines": self._coupon_lines(purchase),
            "refunds": [],
        }
        self.orders[order_id] = order
        return Sale(purchase, str(order_id), (self.notify(order),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        order = self.orders[int(sale.id)]
        refund = {"id": 9_000 + self.number(), "reason": "", "total": f"-{_money(cents)}"}
        order["refunds"] = [*order["refunds"], refund]
        return self._change_order(sale)

    def cancel(self, sale: Sale) -> tuple[Notification, ...]:
        return self._change_order(sale, status="cancelled")

    def pay_again(self, sale: Sale) -> tuple[Notification, ...]:
        return self._change_order(sale, status="processing")

    def change_total(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        return self._change_order(sale, total=_money(cents))

    def delete(self, sale: Sale) -> Notification:
        """Move an order to the trash; the notification contains only its id."""
        return self.notify({"id": int(sale.id)}, topic="order.deleted")

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        return self.pay(purchase).notifications

    def create_unknown_event(self) -> Notification:
        return self.notify({"id": 1, "arg": 5}, topic="action.woocommerce_add_to_cart")

    def create_malformed_event(self) -> Notification:
        bad = {
            "id": 1,
            "status": "processing",
            "currency": "USD",
            "date_paid_gmt": self._format_now(),
            "total": "a lot",
        }
        return self.notify(bad)

    def sign_body(self, body: bytes) -> Notification:
        return sign(body, secret=self.secret)

    def notify(self, order: dict[str, Any], *, topic: str = "order.updated") -> Notification:
        """Return a webhook about the current state of an order."""
        return sign(json.dumps(order).encode(), topic=topic, secret=self.secret)

    def _change_order(self, sale: Sale, **fields: Any) -> tuple[Notification, ...]:
        order = self.orders[int(sale.id)]
        order |= {"date_modified_gmt": self._format_now(), **fields}
        return (self.notify(order),)

    def _coupon_lines(self, purchase: Purchase) -> list[dict[str, Any]]:
        if purchase.code is None:
            return []
        info = json.dumps([int(self.codes.redeemed_id(purchase) or 0), purchase.code.lower(), None, 1])
        meta = [{"id": 7, "key": "coupon_info", "value": info}]
        return [{"id": 5, "code": purchase.code.lower(), "discount": "1.00", "meta_data": meta}]

    def _format_now(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%S")

    def _page(self, call: ApiCall) -> list[dict[str, Any]]:
        since = call.params.get("modified_after", [""])[0]
        matches = [order for order in self.orders.values() if order["date_modified_gmt"] > since]
        count, page = int(call.params["per_page"][0]), int(call.params.get("page", ["1"])[0])
        fields = call.params.get("_fields", [""])[0].split(",")
        listed = matches[(page - 1) * count : page * count]
        return [{name: order[name] for name in fields} if fields[0] else order for order in listed]


def sign(body: bytes, *, topic: str = "order.updated", secret: str = SECRET) -> Notification:
    """Return a body with the shop's signature."""
    digest = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
    headers = {"X-WC-Webhook-Topic": topic, "X-WC-Webhook-Signature": digest, "X-WC-Webhook-Delivery-ID": "same"}
    return Notification(body, {**headers, "Content-Type": "application/json"})


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
