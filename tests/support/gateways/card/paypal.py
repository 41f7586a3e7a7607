"""A fake PayPal: captures, sales of subscriptions, refunds, disputes, signature verification, and reports."""

import base64
import hashlib
import hmac
import json
import zlib
from dataclasses import replace
from typing import Any

from adapters.gateways.card.paypal import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

CLIENT, SECRET, WEBHOOK = "client_fake", "secret_fake", "WH-HOOK-1"
_BASIC = f"Basic {base64.b64encode(f'{CLIENT}:{SECRET}'.encode()).decode()}"
_SPLICED = b'"webhook_event":'


class PaypalStage(Stage):
    """A fake PayPal; a first purchase is a capture of an order, a renewal a sale of a subscription."""

    gateway = GATEWAY
    credentials = {"clientId": CLIENT, "clientSecret": SECRET}
    subscription = {"webhook": WEBHOOK}
    unsupported = {
        "code": "PayPal has no discount codes.",
        "test_flag": missing_acts.SEPARATE_TEST_ACCOUNT,
        "dispute_opened": "A dispute is reported only when it is decided.",
        "uninstall": missing_acts.UNINSTALL_IS_SILENT,
        "cancel": missing_acts.PAYMENT_IS_FINAL,
        "pay_again": missing_acts.PAYMENT_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
        "time": "PayPal verifies signatures itself, and accepts old ones.",
    }

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, Any] = {f"/v1/notifications/webhooks/{WEBHOOK}": {"id": WEBHOOK}}
        self.report: list[dict[str, Any]] = []
        self.tokens: set[str] = set()
        self.lives_s = 32_400
        #: The newest webhook, for which events are signed.
        self.webhook = WEBHOOK

    def is_authorized(self, call: ApiCall) -> bool:
        given = call.headers.get("Authorization", "")
        return given == _BASIC if call.path == "/v1/oauth2/token" else given.removeprefix("Bearer ") in self.tokens

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        match call.method, call.path:
            case "POST", "/v1/oauth2/token":
                token = f"A21-{self.number()}"
                self.tokens.add(token)
                return 200, {"access_token": token, "token_type": "Bearer", "expires_in": self.lives_s}
            case "POST", "/v1/notifications/verify-webhook-signature":
                return 200, {"verification_status": "SUCCESS" if _is_ours(call.body) else "FAILURE"}
            case "POST", "/v1/notifications/webhooks":
                return self._webhook(call.json)
            case "GET", "/v1/notifications/webhooks":
                places = [path for path in self.objects if path.startswith(f"{call.path}/")]
                return 200, {"webhooks": [self.objects[place] for place in places]}
            case "GET", "/v1/reporting/transactions":
                return 200, self._page(call)
            case "DELETE", path:
                return (204, None) if self.objects.pop(path, None) else (404, _MISSING)
        matches = self.objects.get(call.path)
        return (200, matches) if matches else (404, _MISSING)

    def pay(self, purchase: Purchase) -> Sale:
        payer = {"payer_id": f"PAYER{purchase.customer}", "email_address": purchase.email}
        payer |= {"name": {"given_name": "Ann", "surname": "A"}}
        number = self.number()
        if purchase.renews:
            return self._subscription_sale(purchase, number, payer)
        order = {"id": f"PPORD{number}", "payer": payer, "purchase_units": [{"custom_id": purchase.slug}]}
        self.objects[f"/v2/checkout/orders/PPORD{number}"] = order
        return self._capture(purchase, number, f"PPORD{number}")

    def pay_part(self, sale: Sale, cents: int) -> Sale:
        order_id = f"PPORD{sale.id.removeprefix('PPCAP')}"
        return self._capture(replace(sale.purchase, cents=cents), self.number(), order_id)

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        refund_id = f"PPREF{self.number()}"
        self._line("T1107", refund_id, sale.purchase, -cents, sale.id)
        refund: dict[str, Any] = {"id": refund_id, "create_time": self._time()}
        if sale.id.startswith("PPSALE"):
            total = {"total": f"-{_value(cents)}", "currency": sale.purchase.currency}
            refund |= {"sale_id": sale.id, "state": "completed", "amount": total}
            return (self.event("PAYMENT.SALE.REFUNDED", refund),)
        up = {"rel": "up", "method": "GET", "href": f"https://api.paypal.com/v2/payments/captures/{sale.id}"}
        refund |= {"status": "COMPLETED", "links": [up]}
        refund |= {"amount": {"currency_code": sale.purchase.currency, "value": _value(cents)}}
        return (self.event("PAYMENT.CAPTURE.REFUNDED", refund),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        trial = {"tenure_type": "TRIAL", "sequence": 1, "cycles_completed": 0}
        subscription = {
            "id": f"I-SUB{purchase.customer}",
            "status": "ACTIVE",
            "custom_id": purchase.slug,
            "subscriber": {"email_address": purchase.email, "payer_id": f"PAYER{purchase.customer}"},
            "billing_info": {"cycle_executions": [trial]},
        }
        return (self.event("BILLING.SUBSCRIPTION.ACTIVATED", subscription),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        outcome = {"lost": "RESOLVED_BUYER_FAVOUR", "won": "RESOLVED_SELLER_FAVOUR"}[state]
        dispute = {
            "dispute_id": f"PP-D-{self.number()}",
            "status": "RESOLVED",
            "dispute_outcome": {"outcome_code": outcome},
            "disputed_transactions": [{"seller_transaction_id": sale.id}],
        }
        return (self.event("CUSTOMER.DISPUTE.RESOLVED", dispute),)

    def create_unknown_event(self) -> Notification:
        return self.event("CHECKOUT.ORDER.APPROVED", {"id": "PPORD1"})

    def create_malformed_event(self) -> Notification:
        amount = {"currency_code": "USD", "value": "x"}
        return self.event("PAYMENT.CAPTURE.COMPLETED", {"id": "PPCAP0", "amount": amount})

    def sign_body(self, body: bytes) -> Notification:
        return sign(body)

    def event(self, kind: str, resource: dict[str, Any]) -> Notification:
        """Return a signed event about a resource."""
        event = {"id": f"WH-{self.number()}", "event_version": "1.0", "create_time": self._time()}
        return sign(json.dumps(event | {"event_type": kind, "resource": resource}).encode(), self.webhook)

    def _capture(self, purchase: Purchase, number: int, order_id: str) -> Sale:
        capture = {
            "id": f"PPCAP{number}",
            "status": "COMPLETED",
            "amount": {"currency_code": purchase.currency, "value": _value(purchase.cents)},
            "custom_id": purchase.slug,
            "supplementary_data": {"related_ids": {"order_id": order_id}},
            "create_time": self._time(),
        }
        self.objects[f"/v2/payments/captures/PPCAP{number}"] = capture
        self._line("T0006", capture["id"], purchase, purchase.cents)
        return Sale(purchase, capture["id"], (self.event("PAYMENT.CAPTURE.COMPLETED", capture),))

    def _subscription_sale(self, purchase: Purchase, number: int, payer: dict[str, Any]) -> Sale:
        subscription = f"I-SUB{purchase.customer}"
        payload = {"id": subscription, "custom_id": purchase.slug, "subscriber": payer}
        self.objects[f"/v1/billing/subscriptions/{subscription}"] = payload
        sale = {
            "id": f"PPSALE{number}",
            "state": "completed",
            "billing_agreement_id": subscription,
            "amount": {"total": _value(purchase.cents), "currency": purchase.currency},
            "create_time": self._time(),
        }
        self._line("T0002", sale["id"], purchase, purchase.cents, subscription)
        return Sale(purchase, sale["id"], (self.event("PAYMENT.SALE.COMPLETED", sale),))

    def _webhook(self, fields: dict[str, Any]) -> tuple[int, Any]:
        if any(there.get("url") == fields["url"] for there in self.objects.values()):
            return 400, {"name": "WEBHOOK_URL_ALREADY_EXISTS", "message": "Webhook URL already exists."}
        created = {"id": f"WH-HOOK-{self.number() + 1}", **fields}
        self.objects[f"/v1/notifications/webhooks/{created['id']}"] = created
        self.webhook = created["id"]
        return 201, created

    def _line(self, code: str, transaction: str, purchase: Purchase, cents: int, about: str | None = None) -> None:
        line = {
            "transaction_id": transaction,
            "paypal_reference_id": about,
            "paypal_reference_id_type": "SUB" if code == "T0002" else "TXN",
            "transaction_event_code": code,
            "transaction_initiation_date": self.now.strftime("%Y-%m-%dT%H:%M:%S+0000"),
            "transaction_amount": {"currency_code": purchase.currency, "value": _value(cents)},
            "transaction_status": "S",
            "custom_field": purchase.slug,
        }
        payer = {"account_id": f"PAYER{purchase.customer}", "email_address": purchase.email}
        self.report.append({"transaction_info": line, "payer_info": payer})

    def _page(self, call: ApiCall) -> dict[str, Any]:
        since, until = (call.params[name][0][:19] for name in ("start_date", "end_date"))
        matches = [
            item
            for item in self.report
            if since <= item["transaction_info"]["transaction_initiation_date"][:19] <= until
        ]
        size, page = int(call.params["page_size"][0]), int(call.params["page"][0])
        view = matches[(page - 1) * size : page * size]
        return {"transaction_details": view, "page": page, "total_pages": -(-len(matches) // size)}

    def _time(self) -> str:
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sign(body: bytes, webhook: str = WEBHOOK) -> Notification:
    """Return a body with a signature that the fake accepts for a webhook; unlike PayPal's it has no certificate."""
    at = "2026-01-02T03:00:06Z"
    headers = {
        "Paypal-Transmission-Id": "tid-1",
        "Paypal-Transmission-Time": at,
        "Paypal-Transmission-Sig": _signature("tid-1", at, webhook, body),
        "Paypal-Cert-Url": "https://api.paypal.com/v1/notifications/certs/CERT-1",
        "Paypal-Auth-Algo": "SHA256withRSA",
    }
    return Notification(body, headers)


def _signature(transmission: str, at: str, webhook: str, body: bytes) -> str:
    words = f"{transmission}|{at}|{webhook}|{zlib.crc32(body)}".encode()
    return base64.b64encode(hmac.new(b"paypal's own", words, hashlib.sha256).digest()).decode()


def _is_ours(call: bytes) -> bool:
    """Return whether the event in a verification call has a valid signature, by its exact bytes."""
    payload, raw = json.loads(call), call[call.index(_SPLICED) + len(_SPLICED) : -1]
    expected = _signature(payload["transmission_id"], payload["transmission_time"], payload["webhook_id"], raw)
    return payload["transmission_sig"] == expected and payload["auth_algo"] == "SHA256withRSA"


def _value(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02}"


_MISSING = {"name": "RESOURCE_NOT_FOUND", "message": "The specified resource does not exist."}
