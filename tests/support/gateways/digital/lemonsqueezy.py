"""A fake Lemon Squeezy: orders, invoices, subscriptions, and the API calls of the service."""

import hashlib
import hmac
import json
from typing import Any

from adapters.gateways.digital.lemonsqueezy import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.digital.lemonsqueezy_codes import LemonSqueezyCodes
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

KEY, SECRET = "ls_live_fake", "test_ls_secret"


class LemonSqueezyStage(Stage):
    """A fake Lemon Squeezy; a first purchase is an order with a subscription's first invoice, a renewal an invoice."""

    gateway = GATEWAY
    credentials = {"apiKey": KEY, "storeId": "1"}
    subscription = {"webhookSecret": SECRET}
    unsupported = {
        "dispute_opened": "Chargebacks are not reported as such.",
        "dispute_lost": "Chargebacks are not reported as such.",
        "dispute_won": "Chargebacks are not reported as such.",
        "uninstall": missing_acts.UNINSTALL_IS_SILENT,
        "time": missing_acts.PROOF_HAS_NO_TIME,
        "cancel": missing_acts.PAYMENT_IS_FINAL,
        "pay_again": missing_acts.PAYMENT_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
        "pay_part": missing_acts.ONE_SALE_PER_ORDER,
    }

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, dict[str, Any]] = {
            "/v1/stores/1": {"type": "stores", "id": "1", "attributes": {"name": "Ada's", "currency": "USD"}},
        }
        self.codes = LemonSqueezyCodes(self.number)
        self.redeemed: dict[str, str] = {}
        self.secret = SECRET

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == f"Bearer {KEY}"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/v1/users/me":
            return 200, {"meta": {"test_mode": False}, "data": {"type": "users", "id": "5", "attributes": {}}}
        if call.path in ("/v1/orders", "/v1/subscription-invoices"):
            return 200, self._page(call)
        if call.path.endswith("/discount-redemptions"):
            attributes = self.redeemed.get(call.path.split("/")[3])
            redeemed = [{"type": "discount-redemptions", "id": "1", "attributes": attributes}]
            return 200, {"data": redeemed if attributes else []}
        if call.path == "/v1/webhooks":
            created = {**call.json["data"], "id": str(self.number())}
            self.secret = created["attributes"]["secret"]
            self.objects[f"/v1/webhooks/{created['id']}"] = created
            return 201, {"data": created}
        if (coded := self.codes.answer(call)) is not None:
            return coded
        if call.method == "DELETE":
            return (204, None) if self.objects.pop(call.path, None) else (404, _MISSING)
        matches = self.objects.get(call.path)
        return (200, {"data": matches}) if matches else (404, _MISSING)

    def pay(self, purchase: Purchase) -> Sale:
        if purchase.renews:
            invoice = self._invoice(purchase, "renewal")
            return Sale(purchase, f"invoice:{invoice['id']}", (self._notify_paid(invoice, purchase),))
        order = self._order(purchase)
        subscription = self._subscription(purchase, order, "active")
        invoice = self._invoice(purchase, "initial")
        notification = (
            self.event("order_created", order, purchase),
            self.event("subscription_created", subscription, purchase),
            self._notify_paid(invoice, purchase),
        )
        return Sale(purchase, f"order:{order['id']}", notification)

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        kind, number = sale.id.split(":")
        path, name = {
            "order": ("orders", "order_refunded"),
            "invoice": ("subscription-invoices", "subscription_payment_refunded"),
        }[kind]
        matches = self.objects[f"/v1/{path}/{number}"]
        payload = matches["attributes"]
        payload["refunded_amount"] += cents
        payload["refunded"] = payload["refunded_amount"] == payload["total"]
        payload["status"] = "refunded" if payload["refunded"] else "paid"
        payload["updated_at"] = payload["refunded_at"] = f"{self._format_now()[:-7]}{self.number():06}Z"
        return (self.event(name, matches, sale.purchase),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        order = self._order(purchase)
        subscription = self._subscription(purchase, order, "on_trial")
        return (
            self.event("order_created", order, purchase),
            self.event("subscription_created", subscription, purchase),
        )

    def create_unknown_event(self) -> Notification:
        return self.event("license_key_created", {"type": "license-keys", "id": "1", "attributes": {}}, Purchase())

    def create_malformed_event(self) -> Notification:
        bad = {"type": "orders", "id": "9", "attributes": {"status": "paid", "currency": "USD", "total": "x"}}
        return self.event("order_created", bad, Purchase())

    def sign_body(self, body: bytes) -> Notification:
        return sign(body, self.secret)

    def event(self, name: str, payload: dict[str, Any], purchase: Purchase) -> Notification:
        """Return an event about the current state of an object."""
        custom = {"custom_data": {"affiliate_slug": purchase.slug}} if purchase.slug else {}
        meta = {"event_name": name, "test_mode": purchase.is_test, "webhook_id": f"a{self.number()}", **custom}
        return sign(json.dumps({"meta": meta, "data": payload}).encode(), self.secret)

    def _notify_paid(self, invoice: dict[str, Any], purchase: Purchase) -> Notification:
        return self.event("subscription_payment_success", invoice, purchase)

    def _order(self, purchase: Purchase) -> dict[str, Any]:
        order = self._store("orders", {**self._money(purchase), "identifier": "b1", "order_number": 12})
        if purchase.code:
            order["attributes"]["discount_total"] = 1_000
            discount_id = int(self.codes.redeemed_id(purchase) or 0)
            self.redeemed[order["id"]] = {"discount_id": discount_id, "discount_code": purchase.code, "amount": 1}
        return order

    def _subscription(self, purchase: Purchase, order: dict[str, Any], status: str) -> dict[str, Any]:
        payload = {**self._buyer(purchase), "order_id": int(order["id"]), "status": status}
        return self._store("subscriptions", payload, f"3{purchase.customer}")

    def _invoice(self, purchase: Purchase, reason: str) -> dict[str, Any]:
        payload = {**self._money(purchase), "billing_reason": reason, "subscription_id": int(f"3{purchase.customer}")}
        return self._store("subscription-invoices", payload)

    def _buyer(self, purchase: Purchase) -> dict[str, Any]:
        return {
            "store_id": 1,
            "customer_id": int(purchase.customer),
            "user_name": "Ann",
            "user_email": purchase.email,
            "created_at": self._format_now(),
            "updated_at": self._format_now(),
            "test_mode": purchase.is_test,
        }

    def _money(self, purchase: Purchase) -> dict[str, Any]:
        return {
            **self._buyer(purchase),
            "currency": purchase.currency,
            "status": "paid",
            "subtotal": purchase.cents,
            "discount_total": 0,
            "tax": 0,
            "total": purchase.cents,
            "refunded": False,
            "refunded_at": None,
            "refunded_amount": 0,
        }

    def _store(self, kind: str, payload: dict[str, Any], number: str | None = None) -> dict[str, Any]:
        matches = {"type": kind, "id": number or str(self.number()), "attributes": payload}
        self.objects[f"/v1/{kind}/{matches['id']}"] = matches
        return matches

    def _format_now(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def _page(self, call: ApiCall) -> dict[str, Any]:
        number, size = (int(call.params[name][0]) for name in ("page[number]", "page[size]"))
        stored = [matches for path, matches in self.objects.items() if path.startswith(f"{call.path}/")]
        newest = sorted(stored, key=lambda matches: matches["attributes"]["created_at"], reverse=True)
        page = newest[(number - 1) * size : number * size]
        return {"meta": {"page": {"currentPage": number, "lastPage": -(-len(newest) // size)}}, "data": page}


def sign(body: bytes, secret: str = SECRET) -> Notification:
    """Return a body with Lemon Squeezy's signature."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return Notification(body, {"X-Signature": digest, "Content-Type": "application/json"})


_MISSING = {"errors": [{"status": "404", "title": "Not Found"}]}
