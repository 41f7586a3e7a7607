"""A fake Chargebee: the events of a site, read one by one or as a list."""

import base64
import json
from dataclasses import replace
from typing import Any

from adapters.gateways.billing.chargebee import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.billing.chargebee_codes import ChargebeeCodes
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

KEY, USER, PASSWORD = "live_fake", "finderfee", "pass:word"


class ChargebeeStage(Stage):
    """A fake Chargebee; every purchase is an invoice of a subscription."""

    gateway = GATEWAY
    credentials = {"site": "acme", "apiKey": KEY, "webhookUser": USER, "webhookPassword": PASSWORD}
    unsupported = {
        "test_flag": missing_acts.SEPARATE_TEST_ACCOUNT,
        "uninstall": missing_acts.UNINSTALL_IS_SILENT,
        "dispute_opened": missing_acts.NO_DISPUTE_EVENTS,
        "dispute_won": missing_acts.NO_DISPUTE_WON_EVENTS,
        "time": missing_acts.PROOF_HAS_NO_TIME,
        "pay_again": missing_acts.VOID_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
    }

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, dict[str, Any]] = {}
        self.events: list[dict[str, Any]] = []
        self.codes = ChargebeeCodes(self.number)

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == f"Basic {base64.b64encode(f'{KEY}:'.encode()).decode()}"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        path = call.path.removeprefix("/api/v2")
        if path == "/events":
            return 200, self._page(call)
        if (coded := self.codes.answer(call)) is not None:
            return coded
        matches = self.objects.get(path)
        return (200, matches) if matches else (404, {"message": "not found", "api_error_code": "resource_not_found"})

    def pay_first_part(self, purchase: Purchase) -> Sale:
        return self._pay(purchase, total=2 * purchase.cents)

    def pay_part(self, sale: Sale, cents: int) -> Sale:
        invoice_id = sale.id.replace("txn", "inv")
        return self._pay(replace(sale.purchase, cents=cents), total=9 * cents, invoice_id=invoice_id)

    def pay(self, purchase: Purchase) -> Sale:
        return self._pay(purchase, total=purchase.cents)

    def _pay(self, purchase: Purchase, *, total: int, invoice_id: str | None = None) -> Sale:
        number = self.number()
        invoice_id = invoice_id or f"inv_{number}"
        if purchase.code:
            self.codes.redeemed.add(purchase.code)
        if purchase.cents == 0:
            free = {"invoice": {"id": f"inv_{number}", "total": 0}}
            content = {**self._buyer(purchase, "active", coupon=purchase.code), **free}
            return Sale(purchase, f"txn_{number}", (self.event("subscription_created", content),))
        transaction = {
            "id": f"txn_{number}",
            "type": "payment",
            "status": "success",
            "amount": purchase.cents,
            "currency_code": purchase.currency,
            "date": int(self.now.timestamp()),
            "linked_invoices": [{"invoice_id": invoice_id, "applied_amount": purchase.cents}],
        }
        discounts = [{"entity_type": "document_level_coupon", "entity_id": purchase.code, "amount": 1}]
        invoice = {
            "id": invoice_id,
            "subscription_id": f"cb_s{purchase.customer}",
            "recurring": True,
            "first_invoice": purchase.renews is None,
            "price_type": "tax_exclusive",
            "tax": 0,
            "total": total,
            "discounts": discounts if purchase.code else [],
        }
        linked = [{"txn_id": f"txn_{number}", "txn_status": "success", "applied_amount": purchase.cents}]
        self.objects[f"/invoices/{invoice_id}"] = {"invoice": {**invoice, "linked_payments": linked}}
        content = {"transaction": transaction, "invoice": invoice, **self._buyer(purchase, "active")}
        return Sale(purchase, f"txn_{number}", (self.event("payment_succeeded", content),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        number = self.number()
        transaction = {
            "id": f"txn_{number}",
            "type": "refund",
            "status": "success",
            "amount": cents,
            "currency_code": sale.purchase.currency,
            "refunded_txn_id": sale.id,
        }
        invoice_id = sale.id.replace("txn", "inv")
        note = {"id": f"CN-{number}", "reference_invoice_id": invoice_id, "reason_code": "other", "total": cents}
        content = {"transaction": transaction, "credit_note": note, "invoice": {"id": invoice_id}}
        return (self.event("payment_refunded", content),)

    def cancel(self, sale: Sale) -> tuple[Notification, ...]:
        """Delete a payment that was recorded by hand."""
        transaction = {"id": sale.id, "type": "payment", "status": "success", "amount": sale.purchase.cents}
        return (self.event("transaction_deleted", {"transaction": transaction}),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        return (self.event("subscription_created", self._buyer(purchase, "in_trial", coupon=purchase.code)),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        note = {
            "id": f"CN-{self.number()}",
            "reference_invoice_id": sale.id.replace("txn", "inv"),
            "reason_code": "chargeback",
            "total": sale.purchase.cents,
            "currency_code": sale.purchase.currency,
        }
        return (self.event("credit_note_created", {"credit_note": note}),)

    def create_unknown_event(self) -> Notification:
        return self.event("plan_created", {"plan": {"id": "plan_1"}})

    def create_malformed_event(self) -> Notification:
        payload = {"id": "txn_bad", "type": "payment", "status": "success", "currency_code": "USD", "amount": "1.5"}
        return self.event("payment_succeeded", {"transaction": payload})

    def sign_body(self, body: bytes) -> Notification:
        return authenticate(body)

    def forge_signature(self, notification: Notification) -> Notification:
        return replace(notification, headers=authenticate(b"", password="guessed").headers)

    def event(self, kind: str, content: dict[str, Any], **others: Any) -> Notification:
        """Store an event of the site and return its notification."""
        event = {
            "id": f"ev_{self.number():06}",
            "occurred_at": int(self.now.timestamp()),
            "object": "event",
            "api_version": "v2",
            "event_type": kind,
            "content": content,
            **others,
        }
        self.events.append(event)
        self.objects[f"/events/{event['id']}"] = {"event": event}
        return authenticate(json.dumps(event).encode())

    def _buyer(self, purchase: Purchase, status: str, *, coupon: str | None = None) -> dict[str, Any]:
        customer_id = f"cb_c{purchase.customer}"
        buyer = {
            "customer": {"id": customer_id, "email": purchase.email, "first_name": "Ann"},
            "subscription": {
                "id": f"cb_s{purchase.customer}",
                "customer_id": customer_id,
                "status": status,
                "coupons": [{"coupon_id": coupon}] if coupon else [],
                **({"cf_affiliate_slug": purchase.slug} if purchase.slug else {}),
            },
        }
        self.objects[f"/customers/{customer_id}"] = {"customer": buyer["customer"]}
        self.objects[f"/subscriptions/cb_s{purchase.customer}"] = buyer
        return buyer

    def _page(self, call: ApiCall) -> dict[str, Any]:
        start, limit = int(call.params.get("offset", ["0"])[0]), int(call.params["limit"][0])
        fields = call.params.get("event_type[in]", [""])[0].strip("[]").split(",")
        matches = [event for event in self.events if event["event_type"] in fields]
        more = {"next_offset": str(start + limit)} if len(matches) > start + limit else {}
        return {"list": [{"event": event} for event in matches[start : start + limit]], **more}


def authenticate(body: bytes, *, user: str = USER, password: str = PASSWORD) -> Notification:
    """Return a body with the webhook's user and password."""
    token = base64.b64encode(f"{user}:{password}".encode()).decode()
    return Notification(body, {"Authorization": f"Basic {token}", "Content-Type": "application/json"})
