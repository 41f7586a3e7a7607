"""A fake Braintree: notifications as signed XML forms, and the search for transactions."""

import base64
import hashlib
import hmac
import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import escape

from adapters.gateways.card.braintree import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.stage import ApiCall, Notification, Purchase, Sale, Stage

MERCHANT, PUBLIC, PRIVATE = "merchant_fake", "public_fake", "private_fake"
_BASIC = f"Basic {base64.b64encode(f'{PUBLIC}:{PRIVATE}'.encode()).decode()}"
_HOME = f"/merchants/{MERCHANT}"

_SETTLED = "transaction_settled"


class BraintreeStage(Stage):
    """A fake Braintree; every purchase is a direct debit of a subscription, whose refunds send notifications, too."""

    gateway = GATEWAY
    credentials = {"merchantId": MERCHANT, "publicKey": PUBLIC, "privateKey": PRIVATE}
    unsupported = {
        "trial": "Trials are not reported.",
        "code": "Braintree's discounts are not codes.",
        "test_flag": missing_acts.SEPARATE_TEST_ACCOUNT,
        "time": missing_acts.PROOF_HAS_NO_TIME,
        "pay_again": missing_acts.VOID_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
    }

    def __init__(self) -> None:
        super().__init__()
        self.transactions: dict[str, dict[str, Any]] = {}
        self.customers: dict[str, dict[str, Any]] = {}

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == _BASIC and call.path.startswith(f"{_HOME}/")

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        match call.path.removeprefix(_HOME).split("/")[1:]:
            case ["plans"]:
                return 200, xml({"plans": [{"id": "pro"}]})
            case ["customers", customer] if customer in self.customers:
                return 200, xml({"customer": self.customers[customer]})
            case ["transactions", "advanced_search_ids"]:
                ids = "".join(f"<item>{item['id']}</item>" for item in self._search(call))
                return 200, f'<search-results><ids type="array">{ids}</ids></search-results>'.encode()
            case ["transactions", "advanced_search"]:
                fields = re.findall("<item>(.*?)</item>", call.body.decode())
                inside = b"".join(xml({"transaction": row}) for row in self._search(call) if row["id"] in fields)
                number = b'<current-page-number type="integer">1</current-page-number>'
                tag = b"credit-card-transactions"
                return 200, b"<%b type='collection'>%b%b</%b>" % (tag, number, inside, tag)
            case ["transactions", transaction] if transaction in self.transactions:
                return 200, xml({"transaction": self.transactions[transaction]})
        return 404, b""

    def pay(self, purchase: Purchase) -> Sale:
        transaction = self.store(
            {
                "id": f"bt_tx{self.number()}",
                "type": "sale",
                "amount": _value(purchase.cents),
                "tax-amount": None,
                "currency-iso-code": purchase.currency,
                "subscription-id": f"bt_sub{purchase.customer}",
                "custom-fields": {"affiliate-slug": purchase.slug} if purchase.slug else "",
                "customer": {"id": f"bt_c{purchase.customer}", "email": purchase.email, "first-name": "Ann"},
            }
        )
        self.customers[f"bt_c{purchase.customer}"] = {"id": f"bt_c{purchase.customer}", "email": purchase.email}
        payload = {**transaction, "status": "submitted_for_settlement"}
        subscription = {"id": f"bt_sub{purchase.customer}", "plan-id": "pro", "transactions": [payload]}
        notification = self.notify("subscription_charged_successfully", {"subscription": subscription})
        return Sale(purchase, transaction["id"], (notification,))

    def pay_part(self, sale: Sale, cents: int) -> Sale:
        """Settle another part of an authorized amount, with its own id; `sale` becomes a part, too."""
        part = {
            **{name: value for name, value in self.transactions[sale.id].items() if name not in ("settled-at",)},
            "id": f"bt_tx{self.number()}",
            "amount": _value(cents),
            "created-at": self.time(),
        }
        transaction = self.store(part)
        return Sale(
            replace(sale.purchase, cents=cents), part["id"], (self.notify(_SETTLED, {"transaction": transaction}),)
        )

    def pay_first_part(self, purchase: Purchase) -> Sale:
        """Settle a part of an authorized amount."""
        number = self.number()
        transaction = self.store(
            {
                "id": f"bt_tx{number}",
                "type": "sale",
                "amount": _value(purchase.cents),
                "currency-iso-code": purchase.currency,
                "authorized-transaction-id": f"bt_auth{number}",
                "custom-fields": {"affiliate-slug": purchase.slug} if purchase.slug else "",
                "customer": {"id": f"bt_c{purchase.customer}", "email": purchase.email, "first-name": "Ann"},
            }
        )
        self.customers[f"bt_c{purchase.customer}"] = {"id": f"bt_c{purchase.customer}", "email": purchase.email}
        return Sale(purchase, transaction["id"], (self.notify(_SETTLED, {"transaction": transaction}),))

    def cancel(self, sale: Sale) -> tuple[Notification, ...]:
        transaction = self.transactions[sale.id]
        transaction |= {"status": "settlement_declined"}
        return (self.notify("transaction_settlement_declined", {"transaction": transaction}),)

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        refund = self.store(
            {
                "id": f"bt_tx{self.number()}",
                "type": "credit",
                "amount": _value(cents),
                "currency-iso-code": sale.purchase.currency,
                "refunded-transaction-id": sale.id,
            }
        )
        return (self.notify(_SETTLED, {"transaction": refund}),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        value = _value(sale.purchase.cents)
        dispute = {"id": "bt_d1", "kind": "chargeback", "amount": value, "transaction": {"id": sale.id}}
        return (self.notify(f"dispute_{state}", {"dispute": dispute}),)

    def uninstall(self) -> tuple[Notification, ...]:
        return (self.notify("oauth_access_revoked", {"oauth-application-revocation": {"merchant-id": MERCHANT}}),)

    def store(self, transaction: dict[str, Any], **times: str) -> dict[str, Any]:
        """Store a transaction; by default it was settled now."""
        created = {"created-at": self.time(), "status": "settled", **transaction}
        self.transactions[created["id"]] = {**created, **(times or {"settled-at": self.time()})}
        return created

    def time(self) -> str:
        """Return the current time in Braintree's format."""
        return self.now.strftime("%Y-%m-%dT%H:%M:%SZ")

    def notify(self, kind: str, subject: dict[str, Any]) -> Notification:
        """Return a notification."""
        return sign(xml({"notification": {"kind": kind, "timestamp": self.time(), "subject": subject}}))

    def create_unknown_event(self) -> Notification:
        return self.notify("subscription_canceled", {"subscription": {"id": "bt_sub1"}})

    def create_malformed_event(self) -> Notification:
        bad = {"id": "bt_bad", "amount": "x", "currency-iso-code": "USD", "created-at": self.time()}
        return self.notify("subscription_charged_successfully", {"subscription": {"id": "s", "transactions": [bad]}})

    def sign_body(self, body: bytes) -> Notification:
        return sign(body)

    def forge_signature(self, notification: Notification) -> Notification:
        return Notification(notification.body + b"AAAA", notification.headers)

    def _search(self, call: ApiCall) -> list[dict[str, Any]]:
        """Return the transactions that match a search by the time of a status."""
        reply = re.search(r'<([a-z-]+)><min type="datetime">(.*?)</min>', call.body.decode())
        assert reply is not None, call.body
        return [item for item in self.transactions.values() if item.get(reply[1], "") >= reply[2]]


def sign(content: bytes, public: str = PUBLIC, private: str = PRIVATE) -> Notification:
    """Return a form with a payload and two signatures: one of these keys, and one of another pair."""
    payload = base64.encodebytes(content).decode()
    digest = hmac.new(hashlib.sha1(private.encode()).digest(), payload.encode(), hashlib.sha1).hexdigest()
    form = {"bt_signature": f"another|{'0' * 40}&{public}|{digest}", "bt_payload": payload}
    return Notification(urlencode(form).encode(), {"Content-Type": "application/x-www-form-urlencoded"})


def xml(value: Any, name: str = "") -> bytes:
    """Return a value as Braintree's XML: the items of a list are named by the singular of its name."""
    if isinstance(value, dict):
        inside, attributes = b"".join(xml(row, key) for key, row in value.items()), ""
    elif isinstance(value, list):
        inside, attributes = b"".join(xml(row, name.removesuffix("s")) for row in value), ' type="array"'
    else:
        inside, attributes = escape(value or "").encode(), ' nil="true"' if value is None else ""
    return b"<%b%b>%b</%b>" % (name.encode(), attributes.encode(), inside, name.encode()) if name else inside


def _value(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
