"""A fake Paddle: transactions, adjustments, subscriptions, and the API calls of the service."""

import hashlib
import hmac
import json
import time
from typing import Any

from adapters.gateways.billing.paddle import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.billing.paddle_codes import PaddleCodes
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

KEY, SECRET = "pdl_live_apikey_fake", "pdl_ntfset_fake"
_ACTIONS = {"lost": "chargeback", "won": "chargeback_reverse"}


class PaddleStage(Stage):
    """A fake Paddle; every purchase is a transaction of a subscription."""

    gateway = GATEWAY
    credentials = {"apiKey": KEY, "webhookSecret": SECRET}
    unsupported = {
        "test_flag": missing_acts.SEPARATE_TEST_ACCOUNT,
        "uninstall": "A revoked key is refused: the connection breaks until it has a new key.",
        "dispute_opened": missing_acts.NO_DISPUTE_EVENTS,
        "cancel": missing_acts.PAYMENT_IS_FINAL,
        "pay_again": missing_acts.PAYMENT_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
        "pay_part": missing_acts.ONE_SALE_PER_ORDER,
    }

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.objects: dict[str, dict[str, Any]] = {"/": {"caller": {"account": {"id": "acc_1"}}}}
        self.events: list[dict[str, Any]] = []
        self.codes = PaddleCodes(self.number)

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == f"Bearer {KEY}"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/events":
            return 200, self._page(call)
        if call.path == "/notification-settings" and call.method == "POST":
            created = {"id": f"ntfset_{self.number()}", "endpoint_secret_key": SECRET, **call.json}
            self.objects[f"/notification-settings/{created['id']}"] = created
            return 201, {"data": created}
        if (coded := self.codes.answer(call)) is not None:
            return coded
        if call.method == "DELETE":
            return (204, None) if self.objects.pop(call.path, None) else (404, _MISSING)
        matches = self.objects.get(call.path)
        return (200, {"data": matches}) if matches else (404, _MISSING)

    def pay(self, purchase: Purchase) -> Sale:
        number, discount = self.number(), self.codes.redeemed_id(purchase)
        transaction = {
            "id": f"txn_{number}",
            "status": "completed",
            "origin": "subscription_recurring" if purchase.renews else "web",
            "customer_id": self._customer(purchase),
            "subscription_id": f"sub_{purchase.customer}",
            "currency_code": purchase.currency,
            "discount_id": discount,
            "custom_data": _slug(purchase),
            "details": {"totals": {"grand_total": str(purchase.cents), "grand_total_tax": "0"}},
        }
        if discount:
            self.objects[f"/discounts/{discount}"] = {"id": discount, "code": purchase.code}
        return Sale(purchase, f"txn_{number}", (self.event("transaction.completed", transaction),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        adjustment = self._adjustment(sale, "refund", cents)
        self.event("adjustment.created", {**adjustment, "status": "pending_approval"})  # sent first, has no effect
        return (self.event("adjustment.updated", adjustment),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        subscription = {
            "id": f"sub_{purchase.customer}",
            "status": "trialing",
            "transaction_id": f"txn_{self.number()}",
            "customer_id": self._customer(purchase),
            "currency_code": purchase.currency,
            "custom_data": _slug(purchase),
        }
        return (self.event("subscription.created", subscription),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        return (self.event("adjustment.created", self._adjustment(sale, _ACTIONS[state], sale.purchase.cents)),)

    def create_unknown_event(self) -> Notification:
        return self.event("product.created", {"id": "pro_1"})

    def create_malformed_event(self) -> Notification:
        return self.event("transaction.completed", {"id": "txn_bad", "currency_code": "USD"})

    def sign_body(self, body: bytes) -> Notification:
        return sign(body)

    def sign_in_the_past(self, notification: Notification) -> Notification:
        return sign(notification.body, at=int(time.time()) - 301)

    def _customer(self, purchase: Purchase) -> str:
        customer = f"ctm_{purchase.customer}"
        self.objects[f"/customers/{customer}"] = {"id": customer, "email": purchase.email, "custom_data": None}
        return customer

    def _adjustment(self, sale: Sale, action: str, cents: int) -> dict[str, Any]:
        return {
            "id": f"adj_{self.number()}",
            "action": action,
            "type": "partial",
            "status": "approved",
            "transaction_id": sale.id,
            "currency_code": sale.purchase.currency,
            "totals": {"total": str(cents)},
        }

    def event(self, kind: str, payload: dict[str, Any]) -> Notification:
        """Store an event about an object and return its notification."""
        event = {
            "event_id": f"evt_{self.number():06}",
            "event_type": kind,
            "occurred_at": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "notification_id": f"ntf_{self.number()}",
            "data": payload,
        }
        self.events.append(event)
        return sign(json.dumps(event).encode())

    def _page(self, call: ApiCall) -> dict[str, Any]:
        after = call.params.get("after", [""])[0]
        matches = [event for event in self.events if event["event_id"] > after]
        page, has_more = matches[: int(call.params["per_page"][0])], len(matches) > int(call.params["per_page"][0])
        return {"data": page, "meta": {"pagination": {"next": "https://api.paddle.com/events", "has_more": has_more}}}


def sign(body: bytes, *, at: int | None = None) -> Notification:
    """Return a body with paddle's signature at a time (Unix seconds; None: now)."""
    at = int(time.time()) if at is None else at
    digest = hmac.new(SECRET.encode(), f"{at}:".encode() + body, hashlib.sha256).hexdigest()
    return Notification(body, {"Paddle-Signature": f"ts={at};h1={digest}", "Content-Type": "application/json"})


def _slug(purchase: Purchase) -> dict[str, str] | None:
    return {"affiliate_slug": purchase.slug} if purchase.slug else None


_MISSING = {"error": {"type": "request_error", "code": "not_found", "detail": "Entity not found"}}
