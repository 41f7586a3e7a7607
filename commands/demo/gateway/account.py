"""What each call of the API does at the gateway that is played, and which events come of it.

The calls are those that a connection makes, and those by which a brand's own server sells: customers, subscriptions,
refunds. A subscription is paid at once, and again whenever its billing cycle is asked to begin now.
"""

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from commands.demo.gateway import words
from commands.demo.gateway.books import StripeBooks, token
from commands.demo.gateway.words import PaidInvoice, StripeObject

#: Fields of the query or of the form; of a name that ends in [] there may be several.
Fields = Mapping[str, list[str]]
Told = Callable[[StripeObject, StripeObject], None]

_MOST_CENTS = 99_999_999
_CURRENCY = re.compile(r"[a-z]{3}")
_METADATA = re.compile(r"metadata\[(.{1,40})\]", re.DOTALL)
_LONGEST_VALUE = 500
_PRICE = "items[0][price_data]"
_LISTS = ("charges", "customers", "events", "invoices", "refunds", "subscriptions", "webhook_endpoints")


class StripeAccount:
    """The account behind the API. `tell` is given each event with each endpoint that wants it. Not safe for threads."""

    def __init__(self, books: StripeBooks, tell: Told) -> None:
        self._books = books
        self._tell = tell
        self._acts: Mapping[str, Callable[[Fields], StripeObject]] = {
            "/v1/webhook_endpoints": self._make_endpoint,
            "/v1/customers": self._make_customer,
            "/v1/subscriptions": self._subscribe,
            "/v1/refunds": self._refund,
        }

    def answer(self, method: str, path: str, fields: Fields) -> tuple[int, StripeObject]:
        """Do what a call asks; return the status and the JSON of the answer."""
        try:
            return 200, self._answered(method, path, fields)
        except _NotThere:
            return 404, words.error(f"No such object, or no such call of the gateway that is played: {method} {path}")
        except _Invalid as invalid:
            return 400, words.error(str(invalid), param=invalid.param)

    def _answered(self, method: str, path: str, fields: Fields) -> StripeObject:
        kept = self._books.find(path)
        if method == "GET":
            return kept if kept is not None else self._list(path, fields)
        if method == "POST" and path in self._acts:
            return self._acts[path](fields)
        if kept is None:
            raise _NotThere
        if method == "POST" and kept["object"] == "subscription":
            return self._renew(kept, fields)
        if method == "DELETE" and kept["object"] == "webhook_endpoint":
            self._books.put(path, None)
            return {"id": kept["id"], "object": kept["object"], "deleted": True}
        raise _NotThere

    def _list(self, path: str, fields: Fields) -> StripeObject:
        if path.removeprefix("/v1/") not in _LISTS:
            raise _NotThere
        wanted = set(fields.get("types[]", []))
        found = [one for one in self._books.of(path) if not wanted or one.get("type") in wanted]
        try:
            return words.page(path, found, {name: values[0] for name, values in fields.items()})
        except ValueError as error:
            raise _Invalid("A list takes created[gte], created[lt], starting_after and limit.") from error

    def _make_endpoint(self, fields: Fields) -> StripeObject:
        made = {"url": _text(fields, "url"), "enabled_events": list(fields.get("enabled_events[]", ["*"]))}
        return self._made("webhook_endpoint", f"we_{token()}", {**made, "secret": f"whsec_{token()}{token()}"})

    def _make_customer(self, fields: Fields) -> StripeObject:
        made = {"email": _one(fields, "email"), "name": _one(fields, "name"), "metadata": _metadata(fields)}
        return self._made("customer", f"cus_{token()}", made)

    def _subscribe(self, fields: Fields) -> StripeObject:
        customer = self._books.find(f"/v1/customers/{_text(fields, 'customer')}")
        if customer is None:
            raise _Invalid("No such customer.", "customer")
        price = {"unit_amount": _cents(fields, f"{_PRICE}[unit_amount]"), "currency": _currency(fields)}
        started = {
            "status": "active",
            "customer": customer["id"],
            "items": {"data": [{"price": price}]},
            "metadata": _metadata(fields),
            "discounts": [],
        }
        made = self._made("subscription", f"sub_{token()}", started)
        self._event("customer.subscription.created", made)
        return self._bill(made, "subscription_create")

    def _renew(self, subscription: StripeObject, fields: Fields) -> StripeObject:
        if _text(fields, "billing_cycle_anchor") != "now":
            raise _Invalid("Of a subscription only billing_cycle_anchor=now can be asked.", "billing_cycle_anchor")
        latest = self._books.find(f"/v1/invoices/{subscription['latest_invoice']}") or {"created": 0}
        while _now() <= latest["created"]:  # two payments of a subscription are never of one second
            time.sleep(0.05)
        return self._bill(subscription, "subscription_cycle")

    def _bill(self, subscription: StripeObject, reason: str) -> StripeObject:
        """Have the customer pay what the subscription costs; return it with its latest invoice."""
        customer = self._books.find(f"/v1/customers/{subscription['customer']}") or {}
        price = subscription["items"]["data"][0]["price"]
        paid = PaidInvoice(
            token=token(),
            subscription=subscription["id"],
            customer=subscription["customer"],
            email=customer.get("email"),
            cents=price["unit_amount"],
            currency=price["currency"],
            reason=reason,
            paid_at=_now(),
            metadata=subscription["metadata"],
        )
        invoice, payment = self._keep(paid.invoice()), self._keep(paid.payment())
        self._keep(paid.charge())
        billed = self._keep({**subscription, "latest_invoice": invoice["id"]})
        self._event("invoice.paid", invoice)
        self._event("invoice_payment.paid", payment)
        return billed

    def _refund(self, fields: Fields) -> StripeObject:
        charge = self._books.find(f"/v1/charges/{_text(fields, 'charge')}")
        if charge is None:
            raise _Invalid("No such charge.", "charge")
        left = charge["amount"] - charge["amount_refunded"]
        wanted = _cents(fields, "amount") if "amount" in fields else left
        if left == 0:
            raise _Invalid("The charge has been refunded already.", "charge")
        if wanted > left:
            raise _Invalid(f"The refund of {wanted} is greater than what is left of the charge ({left}).", "amount")
        gone = self._keep(words.refunded(charge, charge["amount_refunded"] + wanted))
        about = {"amount": wanted, "charge": charge["id"], "payment_intent": charge["payment_intent"]}
        refund = self._made("refund", f"re_{token()}", {**about, "currency": charge["currency"], "status": "succeeded"})
        self._event("charge.refunded", gone)
        return refund

    def _made(self, kind: str, made_id: str, values: StripeObject) -> StripeObject:
        return self._keep({"id": made_id, "object": kind, "created": _now(), "livemode": True, **values})

    def _keep(self, one: StripeObject) -> StripeObject:
        self._books.put(f"/v1/{one['object']}s/{one['id']}", one)
        return one

    def _event(self, kind: str, about: StripeObject) -> None:
        event = self._keep(words.event(f"evt_{token()}", kind, about, created=_now()))
        for endpoint in self._books.of("/v1/webhook_endpoints"):
            if not {kind, "*"}.isdisjoint(endpoint["enabled_events"]):
                self._tell(event, endpoint)


class _NotThere(Exception):
    pass


class _Invalid(Exception):
    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def _one(fields: Fields, name: str) -> str | None:
    value = fields.get(name, [""])[0].strip()
    if len(value) > _LONGEST_VALUE:
        raise _Invalid(f"{name} has more than {_LONGEST_VALUE} characters.", name)
    return value or None


def _text(fields: Fields, name: str) -> str:
    value = _one(fields, name)
    if value is None:
        raise _Invalid(f"{name} is missing.", name)
    return value


def _cents(fields: Fields, name: str) -> int:
    value = _text(fields, name)
    if not (value.isascii() and value.isdigit()) or not 1 <= int(value) <= _MOST_CENTS:
        raise _Invalid(f"{name} is a whole number of minor units, from 1 to {_MOST_CENTS}.", name)
    return int(value)


def _currency(fields: Fields) -> str:
    value = _text(fields, f"{_PRICE}[currency]").lower()
    if not _CURRENCY.fullmatch(value):
        raise _Invalid("The currency is three letters.", f"{_PRICE}[currency]")
    return value


def _metadata(fields: Fields) -> dict[str, Any]:
    named = ((found[1], name) for name in fields if (found := _METADATA.fullmatch(name)))
    return {key: value for key, name in named if (value := _one(fields, name)) is not None}


def _now() -> int:
    return int(time.time())
