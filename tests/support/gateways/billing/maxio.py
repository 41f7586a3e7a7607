"""A fake Maxio: signed forms, and the subscriptions, invoices and webhooks of a site."""

import base64
import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from adapters.gateways.billing.maxio import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.billing.maxio_codes import MaxioCodes
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

KEY, SHARED = "maxio_fake", "site_key"
SIGNATURE = "X-Chargify-Webhook-Signature-Hmac-Sha-256"


class MaxioStage(Stage):
    """A fake Maxio; every purchase is a payment of a subscription, with its own invoice."""

    gateway = GATEWAY
    credentials = {"subdomain": "acme", "apiKey": KEY, "sharedKey": SHARED}
    unsupported = {
        "test_flag": missing_acts.SEPARATE_TEST_ACCOUNT,
        "uninstall": missing_acts.UNINSTALL_IS_SILENT,
        "time": missing_acts.PROOF_HAS_NO_TIME,
        "cancel": missing_acts.PAYMENT_IS_FINAL,
        "pay_again": missing_acts.PAYMENT_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
    }

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, Any] = {"/site.json": {"site": {"subdomain": "acme", "currency": "USD", "test": False}}}
        self.codes = MaxioCodes(self.number)
        self.invoices: list[dict[str, Any]] = []
        self.webhooks: list[dict[str, Any]] = []
        self.chargebacks: list[dict[str, Any]] = []
        self.changed_fields: list[dict[str, Any]] = []

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == f"Basic {base64.b64encode(f'{KEY}:x'.encode()).decode()}"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/invoices.json":
            return 200, {"invoices": _page(call, self._invoices_of(call))}
        if call.path == "/invoices/events.json":
            return 200, {"events": _page(call, self.chargebacks)}
        if call.path == "/events.json":
            return 200, _page(call, [{"event": event} for event in self.changed_fields])
        if call.path == "/webhooks.json":
            return 200, _page(call, [{"webhook": webhook} for webhook in self.webhooks])
        if call.method == "POST" and call.path == "/endpoints.json":
            number = self.number()
            self.objects[f"/endpoints/{number}.json"] = call.json
            return 201, {"endpoint": {"id": number, **call.json["endpoint"]}}
        if call.method == "PUT" and call.path == "/webhooks/settings.json":
            return 200, call.json
        if call.method == "PUT" and call.path in self.objects:
            self.objects[call.path] = call.json
            return 200, call.json
        if (coded := self.codes.answer(call)) is not None:
            return coded
        matches = self.objects.get(call.path)
        return (200, matches) if matches else (404, {"errors": ["Not found"]})

    def pay_part(self, sale: Sale, cents: int) -> Sale:
        return self._pay(replace(sale.purchase, cents=cents), part_of=self._invoice(sale))

    def pay(self, purchase: Purchase) -> Sale:
        return self._pay(purchase)

    def _invoice(self, sale: Sale) -> dict[str, Any]:
        paid = (row for row in self.invoices if sale.id in [str(each["transaction_id"]) for each in row["payments"]])
        return next(paid)

    def _pay(self, purchase: Purchase, part_of: dict[str, Any] | None = None) -> Sale:
        number = self.number()
        subscription = self._subscription(purchase, "active")
        if purchase.cents == 0:
            free = {"subscription": {**subscription, "signup_revenue": "0.00"}}
            return Sale(purchase, f"{7000 + number}", (self.webhook("signup_success", free),))
        transaction = {
            "id": 7000 + number,
            "type": "Payment",
            "success": "true",
            "amount_in_cents": purchase.cents,
            "created_at": self.now.strftime("%Y-%m-%d %H:%M:%S +0000"),
            "subscription_id": subscription["id"],
        }
        payment = {
            "transaction_id": transaction["id"],
            "transaction_time": self.now.isoformat(timespec="seconds"),
            "original_amount": _major(purchase.cents),
            "applied_amount": _major(purchase.cents),
        }
        if part_of is not None:
            part_of["payments"].append(payment)
            payload = {"site": {"subdomain": "acme"}, "subscription": subscription, "transaction": transaction}
            return Sale(purchase, str(transaction["id"]), (self.webhook("payment_success", payload),))
        self.add_invoice(
            {
                "uid": f"inv_{number}",
                "subscription_id": subscription["id"],
                "currency": purchase.currency,
                "total_amount": _major(purchase.cents),
                "tax_amount": "0.0",
                "updated_at": self.now.isoformat(timespec="seconds"),
                "discounts": self._discounts(purchase),
                "payments": [payment],
                "refunds": [],
            }
        )
        payload = {"site": {"subdomain": "acme"}, "subscription": subscription, "transaction": transaction}
        return Sale(purchase, str(transaction["id"]), (self.webhook("payment_success", payload),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        number = 7000 + self.number()
        invoice = self._invoice(sale)
        amount = {"original_amount": _major(cents), "applied_amount": _major(cents)}
        invoice["refunds"].append({"transaction_id": number, "payment_id": int(sale.id), **amount})
        payload = {
            "refund_id": number,
            "amount_in_cents": cents,
            "subscription_id": invoice["subscription_id"],
            "currency": sale.purchase.currency,
            "memo": "Refund",
        }
        return (self.webhook("refund_success", payload),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        return (self.webhook("signup_success", {"subscription": self._subscription(purchase, "trialing")}),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        payload = {"chargeback_status": "open" if state == "opened" else state}
        invoice, at = {"uid": f"inv_{int(sale.id) - 7000}"}, self.now.isoformat(timespec="seconds")
        self.chargebacks.append({"id": self.number(), "invoice": invoice, "event_data": payload, "timestamp": at})
        return ()

    def create_unknown_event(self) -> Notification:
        return self.webhook("statement_settled", {"subscription": {"id": 501}})

    def create_malformed_event(self) -> Notification:
        subscription = {"id": 501, "currency": "USD", "state": "active"}
        transaction = {"id": 7, "amount_in_cents": "x", "created_at": "2026-01-01 22:00:00 -0500"}
        return self.webhook("payment_success", {"subscription": subscription, "transaction": transaction})

    def sign_body(self, body: bytes) -> Notification:
        return sign(body)

    def forge_signature(self, notification: Notification) -> Notification:
        return Notification(notification.body + b"&x=1", notification.headers)

    def add_invoice(self, invoice: dict[str, Any]) -> None:
        """Store an invoice."""
        self.invoices.append(invoice)
        self.objects[f"/invoices/{invoice['uid']}.json"] = invoice

    def change_field(self, resource: str, holder_id: str, name: str, value: str) -> None:
        """Change a metafield of a subscription or a customer; only the list of events reports it."""
        path = f"/{resource.lower()}s/{holder_id}/metadata.json"
        self.objects[path] = {"metadata": [{"name": name, "value": value}]}
        change = {"event_type": "updated", "metafield_name": name, "new_value": value, "resource_type": resource}
        self.changed_fields.append(
            {
                "id": self.number(),
                "key": "custom_field_value_change",
                "subscription_id": int(holder_id) if resource == "Subscription" else None,
                "customer_id": None,
                "created_at": self.now.isoformat(timespec="seconds"),
                "event_specific_data": {**change, "resource_id": int(holder_id)},
            }
        )

    def webhook(self, kind: str, payload: dict[str, Any]) -> Notification:
        """Store a webhook in the list of webhooks and return its notification."""
        number = 9000 + self.number()
        fields = [("id", number), ("event", kind), *_fields("payload", {**payload, "event_id": number - 1000})]
        body = urlencode(fields)
        self.webhooks.append({"id": number, "event": kind, "body": body, "successful": False})
        return sign(body.encode())

    def _discounts(self, purchase: Purchase) -> list[dict[str, Any]]:
        coupon_id = int(self.codes.redeemed_id(purchase) or 0)
        coupon = {"code": purchase.code, "source_type": "Coupon", "source_id": coupon_id}
        return [coupon] if purchase.code else []

    def _subscription(self, purchase: Purchase, state: str) -> dict[str, Any]:
        subscription_id, customer_id = f"50{purchase.customer}", f"30{purchase.customer}"
        customer = {"id": customer_id, "email": purchase.email, "first_name": "Ann", "reference": ""}
        subscription = {
            "id": subscription_id,
            "state": state,
            "currency": purchase.currency,
            "coupon_code": purchase.code or "",
            "reference": purchase.slug or "",
            "created_at": self.now.strftime("%Y-%m-%d %H:%M:%S +0000"),
            "customer": customer,
        }
        self.objects[f"/customers/{customer_id}.json"] = {"customer": customer}
        self.objects[f"/subscriptions/{subscription_id}.json"] = {"subscription": subscription}
        return subscription

    def _invoices_of(self, call: ApiCall) -> list[dict[str, Any]]:
        of = call.params.get("subscription_id", [None])[0]
        return [row for row in reversed(self.invoices) if of in (None, str(row["subscription_id"]))]


def sign(body: bytes, *, key: str = SHARED) -> Notification:
    """Return a form signed with the site's shared key."""
    digest = hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
    return Notification(body, {SIGNATURE: digest, "Content-Type": "application/x-www-form-urlencoded"})


def _fields(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield name, "" if value is None else value
        return
    for inner, payload in value.items():
        yield from _fields(f"{name}[{inner}]", payload)


def _page(call: ApiCall, matches: list[Any]) -> list[Any]:
    start = (int(call.params.get("page", ["1"])[0]) - 1) * int(call.params["per_page"][0])
    return matches[start : start + int(call.params["per_page"][0])]


def _major(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
