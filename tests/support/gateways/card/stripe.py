"""A fake Stripe: invoices, sessions, charges, refunds, disputes, subscriptions, and the API calls of the service.

Its invoices, charges and events are built by the code of the demo's gateway.
"""

import json
import time
from typing import Any

from adapters.gateways.card.stripe import GATEWAY
from commands.demo.gateway import stripe_objects
from commands.demo.gateway.stripe_objects import PaidInvoice
from tests.support.gateways import missing_acts
from tests.support.gateways.card.stripe_codes import StripeCodes
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

KEY, TEST_KEY, SECRET = "sk_live_fake", "sk_test_fake", "whsec_fake"


class StripeStage(Stage):
    """A fake Stripe; every purchase is an invoice of a subscription, and the id of its charge has the same number."""

    gateway = GATEWAY
    credentials = {"apiKey": KEY, "webhookSecret": SECRET}
    unsupported = {
        "cancel": missing_acts.PAYMENT_IS_FINAL,
        "pay_again": missing_acts.PAYMENT_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
        "pay_part": missing_acts.ONE_SALE_PER_ORDER,
    }

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.objects: dict[str, dict[str, Any]] = {"/v1/account": {"id": "acct_1", "object": "account"}}
        self.events: list[dict[str, Any]] = []
        self.listed: dict[str, list[dict[str, Any]]] = {}
        self.codes = StripeCodes(self.number, lambda: int(self.now.timestamp()))

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") in (f"Bearer {KEY}", f"Bearer {TEST_KEY}")

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/v1/events":
            return 200, _page(self.events[::-1], call)
        if call.path in ("/v1/invoices", "/v1/refunds"):
            return 200, _page(self.listed.get(call.path, [])[::-1], call)
        if (coded := self.codes.answer(call)) is not None:
            return coded
        if call.path == "/v1/webhook_endpoints" and call.method == "POST":
            created = {"id": f"we_{self.number()}", "url": call.form["url"][0], "secret": SECRET}
            self.objects[f"/v1/webhook_endpoints/{created['id']}"] = created
            return 200, created
        if call.method == "DELETE":
            return (200, {"deleted": True}) if self.objects.pop(call.path, None) else (404, _MISSING)
        matches = self.objects.get(call.path)
        return (200, matches) if matches else (404, _MISSING)

    def pay(self, purchase: Purchase) -> Sale:
        number = str(self.number())
        paid = PaidInvoice(
            token=number,
            subscription=f"sub_{purchase.customer}",
            customer=f"cus_{purchase.customer}",
            email=purchase.email,
            cents=purchase.cents,
            currency=purchase.currency,
            reason="subscription_cycle" if purchase.renews else "subscription_create",
            paid_at=int(self.now.timestamp()),
            metadata=_slug(purchase),
            discounts=[f"di_{number}"] if purchase.code else [],
            is_test=purchase.is_test,
        )
        invoice = paid.invoice()
        if purchase.code:
            source = {"id": f"co_{number}", "object": "coupon"}
            promotion = self.codes.redeemed_id(purchase) or ""
            discount = stripe_objects.build_discount(
                f"di_{number}", promotion=promotion, source=source, start=paid.paid_at
            )
            self.objects[f"/v1/invoices/in_{number}"] = {**invoice, "discounts": [discount]}
            self.objects[f"/v1/promotion_codes/{promotion}"] = {"id": promotion, "code": purchase.code}
        self.objects[f"/v1/customers/cus_{purchase.customer}"] = {
            "id": f"cus_{purchase.customer}",
            "email": purchase.email,
            "metadata": {},
        }
        self.objects[f"/v1/charges/ch_{number}"] = paid.charge()
        notification = (self._event("invoice.paid", invoice), self._event("invoice_payment.paid", paid.payment()))
        return Sale(purchase, f"in_{number}", notification)

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        return (self._event("charge.refunded", self._refund_charge(sale, cents)),)

    def restore(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        """Fail a refund of this amount after its event, and return the notifications."""
        charge = self._refund_charge(sale, -cents)
        failed = {"id": f"re_{self.number()}", "object": "refund", "status": "failed", "charge": charge["id"]}
        return (self._event("refund.failed", failed),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
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

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
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

    def uninstall(self) -> tuple[Notification, ...]:
        return (self._event("account.application.deauthorized", {"id": "ca_1", "object": "application"}),)

    def create_unknown_event(self) -> Notification:
        return self._event("product.created", {"id": "prod_1", "object": "product"})

    def create_malformed_event(self) -> Notification:
        return self._event("invoice.paid", {"id": "in_bad", "object": "invoice", "currency": "usd", "amount_paid": "x"})

    def sign_body(self, body: bytes) -> Notification:
        return sign(body)

    def sign_in_the_past(self, notification: Notification) -> Notification:
        return sign(notification.body, at=int(time.time()) - 301)

    def _event(self, kind: str, payload: dict[str, Any]) -> Notification:
        event = stripe_objects.build_event(f"evt_{self.number()}", kind, payload, created=int(self.now.timestamp()))
        self.events.append(event)
        return sign(json.dumps(event).encode())

    def _refund_charge(self, sale: Sale, cents: int) -> dict[str, Any]:
        path = f"/v1/charges/ch_{sale.id.removeprefix('in_')}"
        charge = self.objects[path] | {"currency": sale.purchase.currency.lower()}
        self.objects[path] = stripe_objects.with_refund(charge, charge["amount_refunded"] + cents)
        return self.objects[path]


def _page(newest_first: list[dict[str, Any]], call: ApiCall) -> dict[str, Any]:
    return stripe_objects.build_page(call.path, newest_first, {name: values[0] for name, values in call.params.items()})


def sign(body: bytes, *, at: int | None = None, secret: str = SECRET) -> Notification:
    """Return a body with Stripe's signature at a time (Unix seconds; None: now)."""
    header = stripe_objects.sign(body, secret=secret, at=int(time.time()) if at is None else at)
    return Notification(body, {"Stripe-Signature": header, "Content-Type": "application/json"})


def _slug(purchase: Purchase) -> dict[str, str]:
    return {"affiliate_slug": purchase.slug} if purchase.slug else {}


_MISSING = {"error": {"type": "invalid_request_error", "message": "No such object"}}
