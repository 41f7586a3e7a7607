"""A fake Recurly: invoices, transactions, subscriptions and accounts; notifications only contain their ids."""

import base64
import hashlib
import hmac
import json
import time
from decimal import Decimal
from typing import Any

from adapters.gateways.billing.recurly import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.billing.recurly_codes import RecurlyCodes
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

KEY, SECRET = "recurly_fake", "rkey"
_VERSION = "application/vnd.recurly.v2021-02-25+json"
_MINI = ("id", "code", "email", "first_name")


class RecurlyStage(Stage):
    """A fake Recurly; every purchase is a charge invoice of a subscription."""

    gateway = GATEWAY
    credentials = {"apiKey": KEY, "webhookSecret": SECRET}
    unsupported = {
        "test_flag": missing_acts.SEPARATE_TEST_ACCOUNT,
        "uninstall": missing_acts.UNINSTALL_IS_SILENT,
        "dispute_opened": missing_acts.NO_DISPUTE_EVENTS,
        "dispute_won": missing_acts.NO_DISPUTE_WON_EVENTS,
        "pay_again": missing_acts.VOID_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
        "pay_part": missing_acts.ONE_SALE_PER_ORDER,
    }

    def __init__(self) -> None:
        super().__init__()
        site = {"id": "site1", "subdomain": "acme", "mode": "production"}
        self.objects: dict[str, dict[str, Any]] = {"/sites": {"object": "list", "data": [site], "has_more": False}}
        self.codes = RecurlyCodes(self.number)
        self.invoices: list[dict[str, Any]] = []
        self.transactions: list[dict[str, Any]] = []

    def is_authorized(self, call: ApiCall) -> bool:
        token = base64.b64encode(f"{KEY}:".encode()).decode()
        return call.headers.get("Authorization") == f"Basic {token}" and call.headers.get("Accept") == _VERSION

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/invoices":
            return 200, self._page(call, self.invoices)
        if call.path == "/transactions":
            return 200, self._page(call, self.transactions)
        if (coded := self.codes.answer(call)) is not None:
            return coded
        matches = self.objects.get(call.path)
        return (
            (200, exact_json(matches))
            if matches
            else (404, {"error": {"type": "not_found", "message": "Couldn't find it"}})
        )

    def pay(self, purchase: Purchase) -> Sale:
        number = self.number()
        paid = _major(purchase.cents)
        transaction = {
            "id": f"rtx{number}",
            "uuid": f"u-rtx{number}",
            "type": "purchase",
            "status": "success",
            "amount": paid,
            "currency": purchase.currency,
        }
        invoice = {
            "object": "invoice",
            "id": f"rinv{number}",
            "number": str(1000 + number),
            "type": "charge",
            "state": "paid",
            "origin": "renewal" if purchase.renews else "purchase",
            "currency": purchase.currency,
            "tax": 0,
            "total": paid,
            "paid": paid,
            "subscription_ids": [f"rsub{purchase.customer}"],
            "account": self._account(purchase),
            "coupon_redemptions": self._redemptions(purchase),
            "transactions": [transaction] if purchase.cents else [],
            "closed_at": self._time(),
        }
        self._subscription(purchase)
        self.add_invoice(invoice)
        self.add_transaction(transaction)
        notice = self.notice("charge_invoice", "paid", id=invoice["id"], invoice_number=1000 + number)
        return Sale(purchase, f"rinv{number}", (notice,))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        number = self.number()
        refund = {
            "id": f"rtx{number}",
            "uuid": f"u-rtx{number}",
            "type": "refund",
            "status": "success",
            "amount": _major(cents),
            "currency": sale.purchase.currency,
            "original_transaction_id": sale.id.replace("rinv", "rtx"),
        }
        self.add_transaction(refund)
        return (self.notice("payment", "refunded", id=refund["id"], uuid=refund["uuid"]),)

    def cancel(self, sale: Sale) -> tuple[Notification, ...]:
        transaction_id = sale.id.replace("rinv", "rtx")
        self.objects[f"/transactions/uuid-u-{transaction_id}"]["status"] = "void"
        return (self.notice("payment", "voided", id=transaction_id, uuid=f"u-{transaction_id}"),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        subscription = self._subscription(purchase)
        subscription["trial_ends_at"] = "2126-01-01T00:00:00Z"
        return (self.notice("subscription", "created", id=subscription["id"], uuid=subscription["uuid"]),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        transaction_id = sale.id.replace("rinv", "rtx")
        self.objects[f"/transactions/uuid-u-{transaction_id}"]["status"] = "chargeback"
        return (self.notice("payment", "charged_back", id=transaction_id, uuid=f"u-{transaction_id}"),)

    def create_unknown_event(self) -> Notification:
        return self.notice("plan", "updated", id="plan1")

    def create_malformed_event(self) -> Notification:
        self.add_invoice(
            {"id": "rbad", "number": "9", "type": "charge", "state": "paid", "currency": "USD", "paid": "x"}
        )
        return self.notice("charge_invoice", "paid", id="rbad", invoice_number=9)

    def sign_body(self, body: bytes) -> Notification:
        return sign(body)

    def sign_in_the_past(self, notification: Notification) -> Notification:
        return sign(notification.body, at=int(time.time() * 1000) - 301_000)

    def add_invoice(self, invoice: dict[str, Any]) -> None:
        """Store an invoice."""
        self.invoices.append(invoice)
        self.objects[f"/invoices/number-{invoice['number']}"] = invoice

    def add_transaction(self, transaction: dict[str, Any]) -> None:
        """Store a transaction."""
        transaction.setdefault("updated_at", self._time())
        self.transactions.append(transaction)
        self.objects[f"/transactions/uuid-{transaction['uuid']}"] = transaction

    def notice(self, object_type: str, event_type: str, **matching: Any) -> Notification:
        """Return the notification about an object."""
        payload = {
            "object_type": object_type,
            "site_id": "site1",
            "event_type": event_type,
            "event_time": self._time(),
            **matching,
        }
        return sign(json.dumps(payload).encode())

    def _redemptions(self, purchase: Purchase) -> list[dict[str, Any]]:
        coupon = {"object": "coupon", "id": self.codes.redeemed_id(purchase), "code": purchase.code}
        return [{"coupon": coupon}] if purchase.code else []

    def _account(self, purchase: Purchase) -> dict[str, Any]:
        account = {
            "id": f"racc{purchase.customer}",
            "code": f"ann-{purchase.customer}",
            "email": purchase.email,
            "first_name": "Ann",
            "custom_fields": [],
        }
        self.objects[f"/accounts/{account['id']}"] = account
        return {name: account[name] for name in _MINI}

    def _subscription(self, purchase: Purchase) -> dict[str, Any]:
        subscription_id = f"rsub{purchase.customer}"
        subscription: dict[str, Any] = {
            "id": subscription_id,
            "uuid": f"u-{subscription_id}",
            "account": self._account(purchase),
            "trial_ends_at": None,
            "custom_fields": [{"name": "affiliate_slug", "value": purchase.slug}] if purchase.slug else [],
        }
        self.objects[f"/subscriptions/{subscription_id}"] = subscription
        self.objects[f"/subscriptions/uuid-u-{subscription_id}"] = subscription
        return subscription

    def _page(self, call: ApiCall, matches: list[dict[str, Any]]) -> bytes:
        start, limit = int(call.params.get("cursor", ["0"])[0]), int(call.params["limit"][0])
        following = f"{call.path}?cursor={start + limit}&limit={limit}"
        has_more = len(matches) > start + limit
        return exact_json(
            {"object": "list", "has_more": has_more, "next": following, "data": matches[start : start + limit]}
        )

    def _time(self) -> str:
        return self.now.isoformat(timespec="seconds").replace("+00:00", "Z")


def sign(body: bytes, *, at: int | None = None, secrets: tuple[str, ...] = (SECRET,)) -> Notification:
    """Return a body with recurly's signature at a time (Unix milliseconds; None: now), with one secret or two."""
    at = int(time.time() * 1000) if at is None else at
    digests = [hmac.new(key.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest() for key in secrets]
    return Notification(body, {"recurly-signature": ",".join([str(at), *digests]), "Content-Type": "application/json"})


def exact_json(value: Any) -> bytes:
    """Return JSON with exact decimal numbers."""
    return json.dumps(value, default=lambda payload: f"={payload}=").replace('"=', "").replace('="', "").encode()


def _major(cents: int) -> Decimal:
    return Decimal(cents) / 100
