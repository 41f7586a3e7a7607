"""A fake Gumroad: sales in its API, posts about them, and the API calls of the service."""

from typing import Any
from urllib.parse import unquote, urlencode

from adapters.gateways.digital.gumroad import GATEWAY
from tests.support.gateways import missing_acts
from tests.support.gateways.digital.gumroad_codes import GumroadCodes
from tests.support.gateways.stage import ApiCall, CannotPlay, Notification, Purchase, Sale, Stage

TOKEN, SELLER = "gum_fake", "S3LLER=="
_PAGE = 10


class GumroadStage(Stage):
    """A fake Gumroad; every purchase is a sale of a subscription, in US cents. Notifications are not signed."""

    gateway = GATEWAY
    credentials = {"accessToken": TOKEN}
    subscription = {"sellerId": SELLER}
    unsupported = {
        "dispute_opened": missing_acts.NO_DISPUTE_EVENTS,
        "uninstall": missing_acts.UNINSTALL_IS_SILENT,
        "proof": "Nothing is signed.",
        "time": missing_acts.PROOF_HAS_NO_TIME,
        "currency": "All money is US cents.",
        "cancel": missing_acts.PAYMENT_IS_FINAL,
        "pay_again": missing_acts.PAYMENT_IS_FINAL,
        "change_total": missing_acts.TOTAL_IS_FIXED,
        "pay_part": missing_acts.PAYMENT_NAMES_NO_ORDER,
    }

    def __init__(self) -> None:
        super().__init__()
        self.sales: dict[str, dict[str, Any]] = {}
        self.subscriptions: dict[str, dict[str, str]] = {}
        self.codes = GumroadCodes(self.number)
        self.says_no_to = ""

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == f"Bearer {TOKEN}"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if (coded := self.codes.answer(call)) is not None:
            return coded
        matches: Any = None
        if call.path == "/v2/user":
            matches = {"user": {"id": "7001", "user_id": SELLER, "name": "Ada"}}
        elif call.path == "/v2/sales":
            matches = self._page(call)
        elif call.path == "/v2/resource_subscriptions" and call.method == "PUT":
            matches = self._subscribe({name: values[0] for name, values in call.form.items()})
        elif call.path.startswith("/v2/resource_subscriptions/"):
            matches = self.subscriptions.pop(unquote(call.path).split("/", 3)[3], None)
        elif sale := self.sales.get(unquote(call.path).removeprefix("/v2/sales/")):
            matches = {"sale": sale}
        return 200, {"success": matches is not None, **(matches or {"message": "The sale was not found."})}

    def pay(self, purchase: Purchase) -> Sale:
        sale = self.sale(purchase, subscription_id=f"SUB{purchase.customer}==", recurring_charge=bool(purchase.renews))
        return Sale(purchase, sale["id"], (self.ping("sale", sale, purchase),))

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        payload = self.sales[sale.id]
        left = round(float(payload["amount_refundable_in_currency"].replace(",", "")) * 100) - cents
        payload["amount_refundable_in_currency"] = f"{left / 100:,.2f}"
        payload["refunded"], payload["partially_refunded"] = left == 0, left > 0
        return (self.ping("refund", payload, sale.purchase),)

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        trial = {"free_trial_ended": False, "free_trial_ends_on": "Dec 4, 2026", "price": 2900}
        sale = self.sale(purchase, subscription_id=f"SUB{purchase.customer}==", recurring_charge=False, **trial)
        return (self.ping("sale", sale, purchase),)

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        self.sales[sale.id] |= {"disputed": True, "dispute_won": state == "won"}
        return (self.ping("dispute_won" if state == "won" else "dispute", self.sales[sale.id], sale.purchase),)

    def create_unknown_event(self) -> Notification:
        return form({"resource_name": "cancellation", "subscription_id": "SUB1==", "seller_id": SELLER})

    def create_malformed_event(self) -> Notification:
        sale = self.sale(Purchase(), price="x")
        return self.ping("sale", sale, Purchase())

    def sign_body(self, body: bytes) -> Notification:
        return Notification(body, {"Content-Type": "application/x-www-form-urlencoded"})

    def forge_signature(self, notification: Notification) -> Notification:
        raise CannotPlay(self.unsupported["proof"])

    def sale(self, purchase: Purchase, **other: Any) -> dict[str, Any]:
        """Store a sale for the API."""
        number = self.number()
        sale = {
            "id": f"SALE{number}==",
            "email": purchase.email,
            "seller_id": SELLER,
            "created_at": self.now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "product_id": "PR0D==",
            "price": purchase.cents,
            "currency_symbol": "$",
            "amount_refundable_in_currency": f"{purchase.cents / 100:,.2f}",
            "refunded": False,
            "partially_refunded": False,
            "chargedback": False,
            "purchaser_id": f"700{purchase.customer}",
            "full_name": "Ann",
            "disputed": False,
            "dispute_won": False,
            "paid": purchase.cents != 0,
            "custom_fields": {},
            "order_id": number,
            "free_trial_ended": None,
            "free_trial_ends_on": None,
            **({"offer_code": {"code": purchase.code, "name": purchase.code}} if purchase.code else {}),
            **other,
        }
        self.sales[sale["id"]] = sale
        return sale

    def ping(self, name: str, sale: dict[str, Any], purchase: Purchase, **other: str) -> Notification:
        """Return the notification about a sale: a form in which brackets are encoded twice."""
        payload = {
            "resource_name": name,
            "seller_id": SELLER,
            "sale_id": sale["id"],
            "sale_timestamp": sale["created_at"],
            "email": sale["email"] or "",
            "price": sale["price"],
            "currency": "usd",
            "refunded": str(sale["refunded"]).lower(),
            "disputed": str(sale["disputed"]).lower(),
            **({"test": "true"} if purchase.is_test else {}),
            **({"url_params%5Baffiliate_slug%5D": purchase.slug} if purchase.slug else {}),
            **other,
        }
        return form(payload)

    def _subscribe(self, fields: dict[str, str]) -> dict[str, Any] | None:
        if fields["resource_name"] == self.says_no_to:
            return None
        created = {"id": f"SUBSCRIPTION{self.number()}==", **fields}
        self.subscriptions[created["id"]] = created
        return {"resource_subscription": created}

    def _page(self, call: ApiCall) -> dict[str, Any]:
        fields = {name: values[0] for name, values in call.params.items()}
        newest = [sale for sale in reversed(self.sales.values()) if sale["created_at"] >= fields.get("after", "")]
        if "email" in fields:
            newest = [sale for sale in newest if sale["email"] == fields["email"]]
        start = int(fields.get("page_key", 0))
        more = {"next_page_key": str(start + _PAGE)} if len(newest) > start + _PAGE else {}
        return {"sales": [sale for sale in newest if sale["price"] != 0][start : start + _PAGE], **more}


def form(fields: dict[str, Any]) -> Notification:
    """Return a notification with a form."""
    return Notification(urlencode(fields).encode(), {"Content-Type": "application/x-www-form-urlencoded"})
