"""The effects of each API call at the simulated gateway, and the events it causes.

Supported are the calls of a connection, including coupons and codes, and those by which a brand's own server sells:
customers, subscriptions, refunds. A subscription is paid at once, and again whenever its billing cycle is set to begin
now. A POST that repeats an Idempotency-Key gets the first response again.
"""

import time
from collections.abc import Callable, Mapping

from commands.demo.gateway import codes, forms, stripe_objects
from commands.demo.gateway.forms import Fields, InvalidField
from commands.demo.gateway.object_store import StripeObjectStore, new_token
from commands.demo.gateway.stripe_objects import PaidInvoice, StripeObject

EventSink = Callable[[StripeObject, StripeObject], None]

_PRICE = "items[0][price_data]"
_CODE = "discounts[0][promotion_code]"
_COUPONS, _CODES = "/v1/coupons", "/v1/promotion_codes"
_LISTS = (
    "charges",
    "coupons",
    "customers",
    "events",
    "invoices",
    "promotion_codes",
    "refunds",
    "subscriptions",
    "webhook_endpoints",
)


class StripeAccount:
    """The account behind the API. `send_event` receives each event with each subscribed endpoint. Not thread-safe."""

    def __init__(self, books: StripeObjectStore, send_event: EventSink) -> None:
        self._books = books
        self._send_event = send_event
        self._creators: Mapping[str, Callable[[Fields], StripeObject]] = {
            "/v1/webhook_endpoints": self._create_endpoint,
            "/v1/customers": self._create_customer,
            "/v1/subscriptions": self._subscribe,
            "/v1/refunds": self._refund,
            _COUPONS: lambda fields: self._create("coupon", f"co_{new_token()}", codes.build_coupon(fields)),
            _CODES: self._create_code,
        }

    def answer(self, method: str, path: str, fields: Fields, *, key: str = "") -> tuple[int, StripeObject]:
        """Execute a call; return the status and the JSON of the response. `key` is its Idempotency-Key."""
        path_of_response = f"answer to {key}"  # not a path of a call
        before = self._books.find(path_of_response) if key and method == "POST" else None
        if before is not None:
            return before["status"], before["answer"]
        status, response = self._execute(method, path, fields)
        if key and method == "POST":
            self._books.put(path_of_response, {"status": status, "answer": response})
        return status, response

    def _execute(self, method: str, path: str, fields: Fields) -> tuple[int, StripeObject]:
        try:
            return 200, self._route(method, path, fields)
        except _NotFound:
            return 404, stripe_objects.build_error(
                f"No such object, or the simulated gateway does not support this call: {method} {path}"
            )
        except InvalidField as invalid:
            return 400, stripe_objects.build_error(str(invalid), param=invalid.param)

    def _route(self, method: str, path: str, fields: Fields) -> StripeObject:
        stored = self._books.find(path)
        if method == "GET":
            return self._expand(stored, fields) if stored is not None else self._list(path, fields)
        if method == "POST" and path in self._creators:
            return self._creators[path](fields)
        if stored is None:
            raise _NotFound
        if method == "POST" and stored["object"] == "subscription":
            return self._update(stored, fields) if forms.parse_metadata(fields) else self._renew(stored, fields)
        if method == "POST" and stored["object"] == "promotion_code":
            return self._store(codes.set_active(stored, fields, existing=self._books.list_objects(_CODES)))
        if method == "DELETE" and stored["object"] in ("coupon", "webhook_endpoint"):
            self._books.put(path, None)
            return {"id": stored["id"], "object": stored["object"], "deleted": True}
        raise _NotFound

    def _list(self, path: str, fields: Fields) -> StripeObject:
        if path.removeprefix("/v1/") not in _LISTS:
            raise _NotFound
        types = set(fields.get("types[]", []))
        objects = [item for item in self._books.list_objects(path) if not types or item.get("type") in types]
        if path == _CODES:
            objects = codes.filter_codes(objects, fields)
        try:
            return stripe_objects.build_page(path, objects, {name: values[0] for name, values in fields.items()})
        except ValueError as error:
            raise InvalidField("A list takes created[gte], created[lt], starting_after and limit.") from error

    def _expand(self, stored: StripeObject, fields: Fields) -> StripeObject:
        """Return an object with its discounts in place of their ids if the call expands them."""
        if "discounts" not in fields.get("expand[]", []) or "discounts" not in stored:
            return stored
        return {**stored, "discounts": self._discounts(stored)}

    def _discounts(self, holder: StripeObject) -> list[StripeObject]:
        discounts = (self._books.find(f"/v1/discounts/{discount_id}") for discount_id in holder["discounts"])
        return [discount for discount in discounts if discount is not None]

    def _create_endpoint(self, fields: Fields) -> StripeObject:
        values = {
            "url": forms.require_text(fields, "url"),
            "enabled_events": list(fields.get("enabled_events[]", ["*"])),
        }
        return self._create(
            "webhook_endpoint", f"we_{new_token()}", {**values, "secret": f"whsec_{new_token()}{new_token()}"}
        )

    def _create_customer(self, fields: Fields) -> StripeObject:
        values = {
            "email": forms.find_text(fields, "email"),
            "name": forms.find_text(fields, "name"),
            "metadata": forms.parse_metadata(fields),
        }
        return self._create("customer", f"cus_{new_token()}", values)

    def _create_code(self, fields: Fields) -> StripeObject:
        values = codes.build_promotion_code(
            fields, coupons=self._books.list_objects(_COUPONS), existing=self._books.list_objects(_CODES)
        )
        return self._create("promotion_code", f"promo_{new_token()}", values)

    def _subscribe(self, fields: Fields) -> StripeObject:
        customer = self._books.find(f"/v1/customers/{forms.require_text(fields, 'customer')}")
        if customer is None:
            raise InvalidField("No such customer.", "customer")
        currency = forms.require_currency(fields, f"{_PRICE}[currency]")
        price = {"unit_amount": forms.require_cents(fields, f"{_PRICE}[unit_amount]"), "currency": currency}
        metadata, code_id = forms.parse_metadata(fields), forms.find_text(fields, _CODE)
        values = {
            "status": "active",
            "customer": customer["id"],
            "items": {"data": [{"price": price}]},
            "metadata": metadata,
            "discounts": [self._redeem(code_id, currency)["id"]] if code_id is not None else [],
        }
        subscription = self._create("subscription", f"sub_{new_token()}", values)
        self._emit_event("customer.subscription.created", subscription)
        return self._bill(subscription, "subscription_create")

    def _redeem(self, code_id: str, currency: str) -> StripeObject:
        promotion = self._books.find(f"{_CODES}/{code_id}")
        source = self._books.find(f"{_COUPONS}/{promotion['promotion']['coupon']}") if promotion else None
        codes.require_redeemable(promotion, source, currency=currency, now=_now())
        assert promotion is not None
        assert source is not None
        discount = self._store(codes.build_discount(f"di_{new_token()}", promotion, source, now=_now()))
        for redeemed in (promotion, source):
            self._store({**redeemed, "times_redeemed": redeemed["times_redeemed"] + 1})
        return discount

    def _update(self, subscription: StripeObject, fields: Fields) -> StripeObject:
        """Update the metadata of a subscription; other keys keep their values."""
        before, written = subscription["metadata"], forms.parse_metadata(fields)
        updated = self._store({**subscription, "metadata": before | written})
        previous = {"metadata": {name: before.get(name) for name in written}}
        self._emit_event("customer.subscription.updated", updated, previous)
        return updated

    def _renew(self, subscription: StripeObject, fields: Fields) -> StripeObject:
        if forms.require_text(fields, "billing_cycle_anchor") != "now":
            raise InvalidField("A subscription takes metadata, or billing_cycle_anchor=now.", "billing_cycle_anchor")
        latest = self._books.find(f"/v1/invoices/{subscription['latest_invoice']}") or {"created": 0}
        while _now() <= latest["created"]:  # two payments of a subscription never share a second
            time.sleep(0.05)
        return self._bill(subscription, "subscription_cycle")

    def _bill(self, subscription: StripeObject, reason: str) -> StripeObject:
        """Charge the customer the subscription's price; return the subscription with its latest invoice."""
        customer = self._books.find(f"/v1/customers/{subscription['customer']}") or {}
        price, now = subscription["items"]["data"][0]["price"], _now()
        discounts = [discount for discount in self._discounts(subscription) if codes.is_in_force(discount, now=now)]
        off = sum(codes.discount_cents(discount, price["unit_amount"]) for discount in discounts)
        paid = PaidInvoice(
            token=new_token(),
            subscription=subscription["id"],
            customer=subscription["customer"],
            email=customer.get("email"),
            cents=price["unit_amount"] - off,
            off_cents=off,
            currency=price["currency"],
            reason=reason,
            paid_at=now,
            metadata=subscription["metadata"],
            discounts=[discount["id"] for discount in discounts],
        )
        invoice = self._store(paid.invoice())
        continuing = [discount["id"] for discount in discounts if not codes.is_single_use(discount)]
        billed = self._store({**subscription, "latest_invoice": invoice["id"], "discounts": continuing})
        if paid.cents:  # a free invoice has no charge
            payment = self._store(paid.payment())
            self._store(paid.charge())
        self._emit_event("invoice.paid", invoice)
        if paid.cents:
            self._emit_event("invoice_payment.paid", payment)
        return billed

    def _refund(self, fields: Fields) -> StripeObject:
        charge = self._books.find(f"/v1/charges/{forms.require_text(fields, 'charge')}")
        if charge is None:
            raise InvalidField("No such charge.", "charge")
        left = charge["amount"] - charge["amount_refunded"]
        amount = forms.require_cents(fields, "amount") if "amount" in fields else left
        if left == 0:
            raise InvalidField("The charge has been refunded already.", "charge")
        if amount > left:
            raise InvalidField(f"The refund of {amount} is greater than the rest of the charge ({left}).", "amount")
        refunded = self._store(stripe_objects.with_refund(charge, charge["amount_refunded"] + amount))
        about = {"amount": amount, "charge": charge["id"], "payment_intent": charge["payment_intent"]}
        refund = self._create(
            "refund", f"re_{new_token()}", {**about, "currency": charge["currency"], "status": "succeeded"}
        )
        self._emit_event("charge.refunded", refunded)
        return refund

    def _create(self, kind: str, object_id: str, values: StripeObject) -> StripeObject:
        return self._store({"id": object_id, "object": kind, "created": _now(), "livemode": True, **values})

    def _store(self, stored: StripeObject) -> StripeObject:
        self._books.put(f"/v1/{stored['object']}s/{stored['id']}", stored)
        return stored

    def _emit_event(self, kind: str, about: StripeObject, previous: StripeObject | None = None) -> None:
        event = self._store(
            stripe_objects.build_event(f"evt_{new_token()}", kind, about, created=_now(), previous=previous)
        )
        for endpoint in self._books.list_objects("/v1/webhook_endpoints"):
            if not {kind, "*"}.isdisjoint(endpoint["enabled_events"]):
                self._send_event(event, endpoint)


class _NotFound(Exception):
    pass


def _now() -> int:
    return int(time.time())
