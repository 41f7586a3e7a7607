"""A fake ThriveCart: the list of transactions, posts about them, and the API calls of the service."""

import json
from typing import Any
from urllib.parse import urlencode

from adapters.gateways.digital.thrivecart import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

TOKEN, WORD = "tc_fake", "SECRETWORD"


class ThriveCartStage(Stage):
    """A fake ThriveCart; a first purchase is an order, reported by a form, a renewal a rebill, reported by JSON."""

    gateway = GATEWAY
    credentials = {"apiKey": TOKEN, "secretWord": WORD}
    unsupported = {
        "dispute_opened": "Chargebacks are not reported: refund the order when one is lost.",
        "dispute_lost": "Chargebacks are not reported: refund the order when one is lost.",
        "dispute_won": "Chargebacks are not reported: refund the order when one is lost.",
        "uninstall": missing_acts.UNINSTALL_IS_SILENT,
        "time": missing_acts.PROOF_HAS_NO_TIME,
        "any_body": "The proof is a secret word in the event.",
        "cancel": missing_acts.PAYMENT_IS_FINAL,
        "pay_again": missing_acts.PAYMENT_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
        "pay_part": missing_acts.PAYMENT_NAMES_NO_ORDER,
    }

    def __init__(self) -> None:
        super().__init__()
        self.transactions: list[dict[str, Any]] = []
        self.subscribed: list[str] = []

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == f"Bearer {TOKEN}"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/api/external/ping":
            return 200, {"account_name": "brand"}
        if call.path == "/api/external/subscribe":
            self.subscribed.append(call.json["target_url"])
            return 200, {"success": True}
        if call.path == "/api/external/unsubscribe":
            if call.json["url"] not in self.subscribed:
                return 404, {"error": "There is no such subscription"}
            self.subscribed.remove(call.json["url"])
            return 200, {"success": True}
        if call.path == "/api/external/transactions":
            fields = {name: values[0] for name, values in call.params.items()}
            matches = [row for row in reversed(self.transactions) if fields["query"] in ("", row["order_id"])]
            number, size = int(fields["page"]), int(fields["perPage"])
            page = matches[(number - 1) * size : number * size]
            return 200, {"transactions": page, "meta": {"total": len(matches), "results": len(page)}}
        return 404, {"error": "Not found"}

    def pay(self, purchase: Purchase) -> Sale:
        number = self.number()
        if purchase.renews:
            order_id = purchase.renews.id.split(":")[0]
            invoice_id = f"00000000{number}-2"
            event_id = self.transact("rebill", order_id, invoice_id, purchase.cents, purchase)
            payload = self.build_event("order_rebill", order_id, invoice_id, purchase)
            payload |= {"webhook_id": f"d{number}", "event_id": event_id, "subscription_id": f"544{purchase.customer}"}
            payload["subscription"] = {"id": 8, "amount": purchase.cents, "amount_gross": purchase.cents, "tax_paid": 0}
            notification = Notification(json.dumps(payload).encode(), {"Content-Type": "application/json"})
            return Sale(purchase, f"{order_id}:{invoice_id}:{event_id}", (notification,))
        order_id, invoice_id = f"3800000{number}", f"00000000{number}"
        if purchase.cents:
            self.transact("charge", order_id, invoice_id, purchase.cents, purchase)
        payload = self.build_event("order.success", order_id, invoice_id, purchase)
        payload["order"] = {"id": order_id, "total": purchase.cents, "total_gross": purchase.cents, "tax": 0}
        return Sale(purchase, f"{order_id}:{invoice_id}", (form(payload),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        order_id, invoice_id = sale.id.split(":")[:2]
        event_id = self.transact("refund", order_id, invoice_id, cents, sale.purchase)
        payload = self.build_event("order.refund", order_id, invoice_id, sale.purchase) | {"event_id": event_id}
        payload["refund"] = {"type": "product", "id": "7", "amount": cents, "amount_gross": cents, "tax_paid": 0}
        return (form(payload),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        number = self.number()
        payload = self.build_event("order.success", f"3800000{number}", f"00000000{number}", purchase)
        payload["order"] = {"total": 0, "total_gross": 0, "future_charges": [{"amount": 2900}]}
        return (form(payload),)

    def create_unknown_event(self) -> Notification:
        return form(self.build_event("cart.abandoned", "null", "null", Purchase()))

    def create_malformed_event(self) -> Notification:
        return form({**self.build_event("order.success", "1", "2", Purchase()), "order": {"total": "x"}})

    def forge_signature(self, notification: Notification) -> Notification:
        return Notification(notification.body.replace(WORD.encode(), b"SECRETWORM"), notification.headers)

    def transact(self, kind: str, order_id: str, invoice_id: str, cents: int, purchase: Purchase) -> str:
        """Store a transaction and return the id of its event."""
        event_id = f"13250{self.number():05}"
        created = {"event_id": event_id, "transaction_type": kind, "item_type": "product", "item_id": 7}
        created |= {"order_id": order_id, "invoice_id": invoice_id, "amount": cents, "currency": purchase.currency}
        created |= {"timestamp": int(self.now.timestamp()), "customer": {"name": "Ann", "email": purchase.email}}
        self.transactions.append(created)
        return event_id

    def build_event(self, kind: str, order_id: str, invoice_id: str, purchase: Purchase) -> dict[str, Any]:
        """Return the fields that every event has, including the secret word."""
        return {
            "event": kind,
            "mode": "test" if purchase.is_test else "live",
            "mode_int": 1 if purchase.is_test else 2,
            "thrivecart_account": "brand",
            "thrivecart_secret": WORD,
            "order_id": order_id,
            "invoice_id": invoice_id,
            "date_unix": int(self.now.timestamp()),
            "currency": purchase.currency,
            "customer_id": f"42900{purchase.customer}",
            "customer": {"email": purchase.email or "null", "name": "Ann"},
            "affiliate": "null",
            "coupon": purchase.code or "null",
            **({"passthrough": {"affiliate_slug": purchase.slug}} if purchase.slug else {}),
        }


def form(payload: dict[str, Any]) -> Notification:
    """Return a notification with a form, with brackets in its field names."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return Notification(urlencode(list(_fields("", payload))).encode(), headers)


def _fields(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _fields(f"{name}[{key}]" if name else key, inner)
    elif isinstance(value, list):
        yield from _fields(name, {str(place): inner for place, inner in enumerate(value)})
    else:
        yield name, str(value)
