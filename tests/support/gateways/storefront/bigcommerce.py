"""A fake BigCommerce: orders, refunds, metafields and webhooks of a store; callbacks contain ids only."""

import base64
import hashlib
import hmac
import json
import time
from email.utils import format_datetime
from typing import Any

from adapters.gateways.storefront.bigcommerce import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage
from tests.support.gateways.storefront.bigcommerce_codes import BigCommerceCodes

STORE, TOKEN, SECRET, WORD = "abc123", "access_fake", "bc_client_secret_fake", "our_word_fake"
_PAID, _PART, _WHOLE, _DISPUTED, _CANCELLED = 11, 14, 4, 13, 5


class BigCommerceStage(Stage):
    """A fake BigCommerce; every purchase is an order with a metafield for the slug."""

    gateway = GATEWAY
    credentials = {"storeHash": STORE, "accessToken": TOKEN, "clientId": "client_fake", "clientSecret": SECRET}
    subscription = {"webhooks": "21 22 23", "hookToken": WORD}
    unsupported = {
        "trial": "Subscriptions and trials belong to apps, whose renewals are ordinary orders.",
        "dispute_lost": (
            "Disputes are reported for PayPal only, without their result: an order that leaves the status Disputed is"
            " released."
        ),
        "pay_part": missing_acts.ONE_SALE_PER_ORDER,
    }

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, Any] = {"/v2/store": {"id": STORE, "name": "Mug Shop", "currency": "USD"}}
        self.hooks: dict[str, dict[str, Any]] = {
            number: {"id": number, "is_active": True} for number in ("21", "22", "23")
        }
        self.codes = BigCommerceCodes(self.number)
        self.word = WORD
        self.has_uninstalled = True
        self.forbidden: set[str] = set()

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("X-Auth-Token") == TOKEN

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        path = call.path.removeprefix(f"/stores/{STORE}")
        if any(part in path for part in self.forbidden):
            return 403, {"status": 403, "title": "You don't have a required scope to access the endpoint"}
        if path.startswith("/v3/hooks"):
            return self._edit_hook(call, path.removeprefix("/v3/hooks").lstrip("/"))
        if (coded := self.codes.answer(call)) is not None:
            return coded
        if path == "/v2/orders":
            orders = [
                matches
                for key, matches in self.objects.items()
                if key.startswith("/v2/orders/") and key.count("/") == 3
            ]
            page = _page(call, orders)
            return (200, page) if page else (204, None)
        if path == "/v3/orders/payment_actions/refunds":
            refunds = [matches for key, matches in self.objects.items() if key.startswith(f"{path}/")]
            return 200, {"data": [refund["data"] for refund in _page(call, refunds)], "meta": {}}
        matches = self.objects.get(path)
        return (404, {"status": 404, "title": "Not found"}) if matches is None else (200, matches)

    def pay(self, purchase: Purchase) -> Sale:
        order_id = 250 + self.number()
        money = f"{purchase.cents // 100}.{purchase.cents % 100:02}00"
        self.objects[f"/v2/orders/{order_id}"] = {
            "id": order_id,
            "customer_id": int(f"1{purchase.customer}"),
            "date_created": format_datetime(self.now),
            "status_id": _PAID,
            "cart_id": None,
            "total_inc_tax": money,
            "total_tax": "0.0000",
            "shipping_cost_inc_tax": "0.0000",
            "payment_method": "Test Payment Gateway" if purchase.is_test else "Credit Card",
            "currency_code": "CAD",
            "default_currency_code": purchase.currency,
            "billing_address": {"first_name": "Ann", "last_name": "Buyer", "email": purchase.email},
            "is_deleted": False,
        }
        fields = [{"namespace": "affiliate", "key": "via", "value": purchase.slug}] if purchase.slug else []
        self.objects[f"/v3/orders/{order_id}/metafields"] = {"data": fields}
        self.objects[f"/v3/orders/{order_id}/transactions"] = {"data": [{"id": 1, "test": False}]}
        if purchase.code:
            coupon_id = int(self.codes.redeemed_id(purchase) or 0)
            coupon = {"id": 3, "coupon_id": coupon_id, "code": purchase.code, "type": 5}
            self.objects[f"/v2/orders/{order_id}/coupons"] = [coupon]
        return Sale(purchase, str(order_id), (self.notify_status_change(order_id, before=0),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        refund_id = self.number()
        amount = cents / 100
        refund = {
            "id": refund_id,
            "order_id": int(sale.id),
            "created": self.now.isoformat(timespec="seconds"),
            "reason": "",
            "total_amount": amount,
            "payments": [{"id": 1, "amount": amount, "is_declined": False}],
        }
        self.objects[f"/v3/orders/payment_actions/refunds/{refund_id}"] = {"data": refund}
        of_order = self.objects.setdefault(f"/v3/orders/{sale.id}/payment_actions/refunds", {"data": []})
        of_order["data"].append(refund)
        back = sum(round(row["total_amount"] * 100) for row in of_order["data"])
        self.objects[f"/v2/orders/{sale.id}"]["status_id"] = _WHOLE if back == sale.purchase.cents else _PART
        data = {"type": "order", "id": int(sale.id), "refund": {"refund_id": refund_id}}
        return (self.notify("store/order/refund/created", data),)

    def cancel(self, sale: Sale) -> tuple[Notification, ...]:
        self._change(sale, status_id=_CANCELLED)
        return (self.notify_status_change(int(sale.id), before=_PAID),)

    def pay_again(self, sale: Sale) -> tuple[Notification, ...]:
        self._change(sale, status_id=_PAID)
        return (self.notify_status_change(int(sale.id), before=_CANCELLED),)

    def change_total(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        self._change(sale, total_inc_tax=f"{cents // 100}.{cents % 100:02}00")
        return (self.notify("store/order/updated", {"type": "order", "id": int(sale.id)}),)

    def _change(self, sale: Sale, **fields: Any) -> None:
        self.objects[f"/v2/orders/{sale.id}"] |= {"date_modified": format_datetime(self.now), **fields}

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        is_opened = state == "opened"
        self.objects[f"/v2/orders/{sale.id}"]["status_id"] = _DISPUTED if is_opened else _PAID
        return (self.notify_status_change(int(sale.id), before=_PAID if is_opened else _DISPUTED),)

    def uninstall(self) -> tuple[Notification, ...]:
        return (self.notify("store/app/uninstalled", {"type": "app", "id": None}),)

    def create_unknown_event(self) -> Notification:
        return self.notify("store/product/updated", {"type": "product", "id": 1})

    def create_malformed_event(self) -> Notification:
        self.objects["/v2/orders/9"] = {"id": 9, "status_id": 11, "default_currency_code": "USD", "total_inc_tax": "x"}
        return self.notify_status_change(9, before=0)

    def sign_body(self, body: bytes) -> Notification:
        return sign(body, word=self.word)

    def sign_in_the_past(self, notification: Notification) -> Notification:
        return sign(notification.body, at=int(time.time()) - 301, word=self.word)

    def notify_status_change(self, order_id: int, *, before: int) -> Notification:
        """Return the callback about a changed status of an order."""
        now = self.objects.get(f"/v2/orders/{order_id}", {}).get("status_id", _PAID)
        status = {"previous_status_id": before, "new_status_id": now}
        return self.notify("store/order/statusUpdated", {"type": "order", "id": order_id, "status": status})

    def notify(self, scope: str, data: dict[str, Any]) -> Notification:
        """Return a callback of a scope."""
        reply = {"scope": scope, "store_id": "1025646", "data": data, "created_at": int(self.now.timestamp())}
        digest = hashlib.sha1(json.dumps(reply).encode(), usedforsecurity=False).hexdigest()
        body = json.dumps({**reply, "hash": digest, "producer": f"stores/{STORE}"}).encode()
        return sign(body, f"msg_{self.number()}", word=self.word)

    def _edit_hook(self, call: ApiCall, number: str) -> tuple[int, Any]:
        if call.method == "POST":
            if call.json["scope"] == "store/app/uninstalled" and not self.has_uninstalled:
                return 422, {"status": 422, "title": "The scope is invalid"}
            created = {"id": 100 + self.number(), **call.json}
            self.word = created["headers"]["X-Hook-Token"]
            self.hooks[str(created["id"])] = created
            return 200, {"data": created}
        hook = self.hooks.get(number)
        if hook is None:
            return 404, {"status": 404, "title": "Not found"}
        if call.method == "DELETE":
            self.hooks.pop(number)
        elif call.method == "PUT":
            hook.update(call.json)
        return 200, {"data": hook}


def sign(
    body: bytes, webhook_id: str = "msg_0", *, at: int | None = None, secret: str = SECRET, word: str = WORD
) -> Notification:
    """Return a body with the store's signature at a time (Unix seconds; None: now), and the secret header."""
    at = int(time.time()) if at is None else at
    digest = hmac.new(secret.encode(), f"{webhook_id}.{at}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(digest).decode()}"
    headers = {"webhook-id": webhook_id, "webhook-timestamp": str(at), "webhook-signature": f"v2,x {signature}"}
    return Notification(body, {**headers, "X-Hook-Token": word, "Content-Type": "application/json"})


def _page(call: ApiCall, matches: list[Any]) -> list[Any]:
    count, number = int(call.params["limit"][0]), int(call.params["page"][0])
    return matches[(number - 1) * count : number * count]
