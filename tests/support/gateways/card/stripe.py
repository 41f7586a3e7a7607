"""stripe for the tests: invoices, sessions, charges, refunds, disputes, subscriptions, and the calls that we make."""

import hashlib
import hmac
import json
import time
from typing import Any

from adapters.gateways.card.stripe import GATEWAY
from tests.support.gateways.stage import Asked, Purchase, Sale, Sent, Stage

KEY, SECRET = "sk_live_fake", "whsec_fake"


class StripeStage(Stage):
    """Every purchase is a subscription's invoice; `charge` of a sale is named after its number."""

    gateway = GATEWAY
    credentials = {"apiKey": KEY, "webhookSecret": SECRET}

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.objects: dict[str, dict[str, Any]] = {"/v1/account": {"id": "acct_1", "object": "account"}}
        self.events: list[dict[str, Any]] = []
        self.listed: dict[str, list[dict[str, Any]]] = {}

    def is_let_in(self, asked: Asked) -> bool:
        return asked.headers.get("Authorization") == f"Bearer {KEY}"

    def answer(self, asked: Asked) -> tuple[int, Any]:
        if asked.path == "/v1/events":
            return 200, self._page(self.events[::-1], asked)
        if asked.path in ("/v1/invoices", "/v1/refunds"):
            return 200, self._page(self.listed.get(asked.path, [])[::-1], asked)
        if asked.path == "/v1/webhook_endpoints" and asked.method == "POST":
            made = {"id": f"we_{self.number()}", "url": asked.form["url"][0], "secret": SECRET}
            self.objects[f"/v1/webhook_endpoints/{made['id']}"] = made
            return 200, made
        if asked.method == "DELETE":
            return (200, {"deleted": True}) if self.objects.pop(asked.path, None) else (404, _MISSING)
        found = self.objects.get(asked.path)
        return (200, found) if found else (404, _MISSING)

    def pay(self, purchase: Purchase) -> Sale:
        number = self.number()
        reason = "subscription_cycle" if purchase.renews else "subscription_create"
        subscription = f"sub_{purchase.customer}"
        invoice = {
            "id": f"in_{number}",
            "object": "invoice",
            "status": "paid",
            "billing_reason": reason,
            "amount_paid": purchase.cents,
            "total": purchase.cents,
            "currency": purchase.currency.lower(),
            "customer": f"cus_{purchase.customer}",
            "customer_email": purchase.email,
            "customer_name": "Ann",
            "metadata": {},
            "discounts": [f"di_{number}"] if purchase.code else [],
            "parent": {
                "type": "subscription_details",
                "subscription_details": {"subscription": subscription, "metadata": _slug(purchase)},
            },
            "status_transitions": {"paid_at": int(self.now.timestamp())},
            "livemode": not purchase.is_test,
        }
        if purchase.code:
            discount = {"id": f"di_{number}", "promotion_code": f"promo_{number}", "source": {"coupon": "co_1"}}
            self.objects[f"/v1/invoices/in_{number}"] = {**invoice, "discounts": [discount]}
            self.objects[f"/v1/promotion_codes/promo_{number}"] = {"id": f"promo_{number}", "code": purchase.code}
        self.objects[f"/v1/customers/cus_{purchase.customer}"] = {
            "id": f"cus_{purchase.customer}",
            "email": purchase.email,
            "metadata": {},
        }
        self.objects[f"/v1/charges/ch_{number}"] = self._charge(number, purchase, 0)
        payment = {"type": "payment_intent", "payment_intent": f"pi_{number}"}
        known = {"id": f"inpay_{number}", "object": "invoice_payment", "invoice": f"in_{number}", "payment": payment}
        sent = (self._event("invoice.paid", invoice), self._event("invoice_payment.paid", known))
        return Sale(purchase, f"in_{number}", sent)

    def refund(self, sale: Sale, cents: int) -> tuple[Sent, ...]:
        number = int(sale.id.removeprefix("in_"))
        before = self.objects[f"/v1/charges/ch_{number}"]["amount_refunded"]
        charge = self._charge(number, sale.purchase, before + cents)
        self.objects[f"/v1/charges/ch_{number}"] = charge
        return (self._event("charge.refunded", charge),)

    def restore(self, sale: Sale, cents: int) -> tuple[Sent, ...]:
        """Let a refund fail after the event: so much of what was refunded comes back."""
        number = int(sale.id.removeprefix("in_"))
        before = self.objects[f"/v1/charges/ch_{number}"]["amount_refunded"]
        self.objects[f"/v1/charges/ch_{number}"] = self._charge(number, sale.purchase, before - cents)
        failed = {"id": f"re_{self.number()}", "object": "refund", "status": "failed", "charge": f"ch_{number}"}
        return (self._event("refund.failed", failed),)

    def start_trial(self, purchase: Purchase) -> tuple[Sent, ...]:
        subscription = {
            "id": f"sub_{purchase.customer}",
            "object": "subscription",
            "status": "trialing",
            "customer": f"cus_{purchase.customer}",
            "metadata": _slug(purchase),
            "discounts": [],
            "livemode": not purchase.is_test,
        }
        customer = {"id": f"cus_{purchase.customer}", "email": purchase.email, "metadata": {}}
        self.objects[f"/v1/customers/cus_{purchase.customer}"] = customer
        return (self._event("customer.subscription.created", subscription),)

    def dispute(self, sale: Sale, state: str) -> tuple[Sent, ...]:
        number = sale.id.removeprefix("in_")
        kind, status = {
            "opened": ("charge.dispute.funds_withdrawn", "needs_response"),
            "lost": ("charge.dispute.closed", "lost"),
            "won": ("charge.dispute.closed", "won"),
        }[state]
        dispute = {
            "id": f"du_{number}",
            "object": "dispute",
            "amount": sale.purchase.cents,
            "currency": sale.purchase.currency.lower(),
            "charge": f"ch_{number}",
            "payment_intent": f"pi_{number}",
            "status": status,
        }
        return (self._event(kind, dispute),)

    def uninstall(self) -> tuple[Sent, ...]:
        return (self._event("account.application.deauthorized", {"id": "ca_1", "object": "application"}),)

    def unknown(self) -> Sent:
        return self._event("product.created", {"id": "prod_1", "object": "product"})

    def malformed(self) -> Sent:
        return self._event("invoice.paid", {"id": "in_bad", "object": "invoice", "currency": "usd", "amount_paid": "x"})

    def proved(self, body: bytes) -> Sent:
        return signed(body)

    def late(self, sent: Sent) -> Sent:
        return signed(sent.body, at=int(time.time()) - 301)

    def _event(self, kind: str, told: dict[str, Any]) -> Sent:
        event = {
            "id": f"evt_{self.number()}",
            "object": "event",
            "api_version": "2025-09-30.clover",
            "created": int(self.now.timestamp()),
            "livemode": told.get("livemode", True),
            "type": kind,
            "data": {"object": told},
        }
        self.events.append(event)
        return signed(json.dumps(event).encode())

    def _charge(self, number: int, purchase: Purchase, refunded: int) -> dict[str, Any]:
        return {
            "id": f"ch_{number}",
            "object": "charge",
            "amount": purchase.cents,
            "amount_refunded": refunded,
            "refunded": refunded == purchase.cents,
            "currency": purchase.currency.lower(),
            "customer": f"cus_{purchase.customer}",
            "payment_intent": f"pi_{number}",
        }

    def _page(self, newest_first: list[dict[str, Any]], asked: Asked) -> dict[str, Any]:
        since, until = (int(asked.params.get(name, ["0"])[0]) for name in ("created[gte]", "created[lt]"))
        found = [item for item in newest_first if since <= item["created"] and (not until or item["created"] < until)]
        if after := asked.params.get("starting_after"):
            found = found[[item["id"] for item in found].index(after[0]) + 1 :]
        limit = int(asked.params["limit"][0])
        return {"object": "list", "data": found[:limit], "has_more": len(found) > limit}


def signed(body: bytes, *, at: int | None = None, secret: str = SECRET) -> Sent:
    """Return a body with stripe's signature at a time (Unix seconds; None: now)."""
    at = int(time.time()) if at is None else at
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return Sent(body, {"Stripe-Signature": f"t={at},v1={digest}", "Content-Type": "application/json"})


def _slug(purchase: Purchase) -> dict[str, str]:
    return {"affiliate_slug": purchase.slug} if purchase.slug else {}


_MISSING = {"error": {"type": "invalid_request_error", "message": "No such object"}}
