"""A fake Mollie: payments, refunds and chargebacks with signed events, classic webhook calls, and lists."""

import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any

from adapters.gateways.card.mollie import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

KEY, SECRET = "live_fake", "msecret_fake"
_LISTS = {"/v2/payments": "tr_", "/v2/refunds": "re_", "/v2/chargebacks": "chb_"}


class MollieStage(Stage):
    """A fake Mollie that sends signed events; `build_classic_call` returns the classic webhook call about a payment."""

    gateway = GATEWAY
    credentials = {"apiKey": KEY, "webhookSecret": SECRET}
    unsupported = {
        "code": "Mollie has no discount codes.",
        "dispute_opened": missing_acts.NO_DISPUTE_EVENTS,
        "uninstall": missing_acts.UNINSTALL_IS_SILENT,
        "time": missing_acts.PROOF_HAS_NO_TIME,
        "cancel": missing_acts.PAYMENT_IS_FINAL,
        "pay_again": missing_acts.PAYMENT_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
    }

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, dict[str, Any]] = {"/v2/profiles/me": {"id": "pfl_1", "name": "Acme", "mode": "live"}}
        #: Objects of all kinds, oldest first.
        self.made_there: list[dict[str, Any]] = []
        self.page = 250

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == f"Bearer {KEY}"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path in _LISTS:
            return 200, self._list(call)
        if call.path == "/v2/webhooks" and call.method == "POST":
            created = {"id": f"hook_{self.number()}", "webhookSecret": SECRET, **call.json}
            self.objects[f"/v2/webhooks/{created['id']}"] = created
            return 201, created
        if call.method == "DELETE":
            return (204, None) if self.objects.pop(call.path, None) else (404, _MISSING)
        if (matches := self.objects.get(call.path)) is None:
            return 404, _MISSING
        return 200, {**matches, "_embedded": self._list_embedded(matches["id"])} if "embed" in call.params else matches

    def pay_part(self, sale: Sale, cents: int) -> Sale:
        order_id = self.objects[f"/v2/payments/{sale.id}"]["orderId"]
        return self.pay(replace(sale.purchase, cents=cents), order_id=order_id)

    def pay(self, purchase: Purchase, *, order_id: str | None = None) -> Sale:
        customer = f"cst_{purchase.customer}"
        self.objects[f"/v2/customers/{customer}"] = {"id": customer, "email": purchase.email, "metadata": None}
        payment = {
            "resource": "payment",
            "id": f"tr_{self.number()}",
            "orderId": order_id or f"ord_{self.number()}",
            "mode": "test" if purchase.is_test else "live",
            "status": "paid",
            "amount": _amount(purchase, purchase.cents),
            "sequenceType": "recurring" if purchase.renews else "first",
            "customerId": customer,
            "subscriptionId": f"sub_{purchase.customer}" if purchase.renews else None,
            "metadata": {"affiliate_slug": purchase.slug} if purchase.slug else None,
            "createdAt": self.now.isoformat(),
            "paidAt": self.now.isoformat(),
        }
        return Sale(purchase, payment["id"], (self._notify("payment.paid", self.store(payment)),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        refund = self._build_entity(sale, "refund", f"re_{self.number()}", cents)
        return (self._notify("refund.refunded", self.store({**refund, "status": "refunded"})),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        return self.pay(purchase).notifications  # a first payment of zero, for the mandate

    def restore(self) -> tuple[Notification, ...]:
        """Fail the last refund, so that its money comes back, and return the notifications."""
        refund = next(created for created in reversed(self.made_there) if created["resource"] == "refund")
        refund["status"] = "failed"
        return (self._notify("refund.failed", refund),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        back = self.now.isoformat() if state == "won" else None
        chargeback = self._build_entity(sale, "chargeback", f"chb_{self.number()}", sale.purchase.cents)
        kind = "chargeback.received" if state == "lost" else "chargeback.reversed"
        return (self._notify(kind, self.store({**chargeback, "reversedAt": back})),)

    def store(self, created: dict[str, Any]) -> dict[str, Any]:
        """Store a payment, refund or chargeback."""
        self.made_there.append(created)
        if created["resource"] == "payment":
            self.objects[f"/v2/payments/{created['id']}"] = created
        return created

    def create_unknown_event(self) -> Notification:
        return self._notify("payment-link.paid", {"id": "pl_1"})

    def create_malformed_event(self) -> Notification:
        amount = {"currency": "EUR", "value": "x"}
        return self._notify("payment.paid", {"id": "tr_bad", "status": "paid", "amount": amount})

    def sign_body(self, body: bytes) -> Notification:
        return sign(body)

    def _build_entity(self, sale: Sale, resource: str, object_id: str, cents: int) -> dict[str, Any]:
        return {
            "resource": resource,
            "id": object_id,
            "paymentId": sale.id,
            "amount": _amount(sale.purchase, cents),
            "createdAt": self.now.isoformat(),
        }

    def _notify(self, kind: str, entity: dict[str, Any]) -> Notification:
        event = {
            "resource": "event",
            "id": f"event_{self.number()}",
            "type": kind,
            "entityId": entity["id"],
            "createdAt": self.now.isoformat(),
            "_embedded": {"entity": entity},
        }
        return sign(json.dumps(event).encode())

    def _list_embedded(self, payment_id: str) -> dict[str, Any]:
        of_it = [created for created in self.made_there if created.get("paymentId") == payment_id]
        return {
            f"{name}s": [created for created in of_it if created["resource"] == name]
            for name in ("refund", "chargeback")
        }

    def _list(self, call: ApiCall) -> dict[str, Any]:
        matches = [created for created in self.made_there[::-1] if created["id"].startswith(_LISTS[call.path])]
        if after := call.params.get("from"):
            matches = matches[[created["id"] for created in matches].index(after[0]) :]
        size = min(self.page, int(call.params["limit"][0]))
        page, rest = matches[:size], matches[size:]
        following = {"href": f"https://api.mollie.com{call.path}?from={rest[0]['id']}&limit={size}"} if rest else None
        return {"_embedded": {call.path.removeprefix("/v2/"): page}, "_links": {"next": following}}


def build_classic_call(payment_id: str) -> Notification:
    """Return the classic webhook call about a payment."""
    return Notification(f"id={payment_id}".encode(), {"Content-Type": "application/x-www-form-urlencoded"})


def sign(body: bytes, *secrets: str) -> Notification:
    """Return a body signed with each of these secrets, by default with the stage's."""
    digests = (hmac.new(secret.encode(), body, hashlib.sha256).hexdigest() for secret in secrets or (SECRET,))
    return Notification(body, {"X-Mollie-Signature": ",".join(f"sha256={digest}" for digest in digests)})


def _amount(purchase: Purchase, cents: int) -> dict[str, str]:
    return {"currency": purchase.currency, "value": f"{cents // 100}.{cents % 100:02}"}


_MISSING = {"status": 404, "title": "Not Found", "detail": "No such object"}
