"""What each call of the API does at the gateway that is played, and which events come of it.

The calls are those that a connection makes, coupons and their codes among them, and those by which a brand's own server
sells: customers, subscriptions, refunds. A subscription is paid at once, and again whenever its billing cycle is asked
to begin now. A POST with an Idempotency-Key that was answered before is answered the same.
"""

import time
from collections.abc import Callable, Mapping

from commands.demo.gateway import codes, forms, words
from commands.demo.gateway.books import StripeBooks, token
from commands.demo.gateway.forms import Fields, InvalidField
from commands.demo.gateway.words import PaidInvoice, StripeObject

Told = Callable[[StripeObject, StripeObject], None]

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
    """The account behind the API. `tell` is given each event with each endpoint that wants it. Not safe for threads."""

    def __init__(self, books: StripeBooks, tell: Told) -> None:
        self._books = books
        self._tell = tell
        self._acts: Mapping[str, Callable[[Fields], StripeObject]] = {
            "/v1/webhook_endpoints": self._make_endpoint,
            "/v1/customers": self._make_customer,
            "/v1/subscriptions": self._subscribe,
            "/v1/refunds": self._refund,
            _COUPONS: lambda fields: self._made("coupon", f"co_{token()}", codes.coupon(fields)),
            _CODES: self._make_code,
        }

    def answer(self, method: str, path: str, fields: Fields, *, key: str = "") -> tuple[int, StripeObject]:
        """Do what a call asks; return the status and the JSON of the answer. `key` is its Idempotency-Key."""
        kept = f"answer to {key}"  # no path of a call
        before = self._books.find(kept) if key and method == "POST" else None
        if before is not None:
            return before["status"], before["answer"]
        status, said = self._first_answer(method, path, fields)
        if key and method == "POST":
            self._books.put(kept, {"status": status, "answer": said})
        return status, said

    def _first_answer(self, method: str, path: str, fields: Fields) -> tuple[int, StripeObject]:
        try:
            return 200, self._answered(method, path, fields)
        except _NotThere:
            return 404, words.error(f"No such object, or no such call of the gateway that is played: {method} {path}")
        except InvalidField as invalid:
            return 400, words.error(str(invalid), param=invalid.param)

    def _answered(self, method: str, path: str, fields: Fields) -> StripeObject:
        kept = self._books.find(path)
        if method == "GET":
            return self._expanded(kept, fields) if kept is not None else self._list(path, fields)
        if method == "POST" and path in self._acts:
            return self._acts[path](fields)
        if kept is None:
            raise _NotThere
        if method == "POST" and kept["object"] == "subscription":
            return self._update(kept, fields) if forms.metadata(fields) else self._renew(kept, fields)
        if method == "POST" and kept["object"] == "promotion_code":
            return self._keep(codes.switched(kept, fields, standing=self._books.of(_CODES)))
        if method == "DELETE" and kept["object"] in ("coupon", "webhook_endpoint"):
            self._books.put(path, None)
            return {"id": kept["id"], "object": kept["object"], "deleted": True}
        raise _NotThere

    def _list(self, path: str, fields: Fields) -> StripeObject:
        if path.removeprefix("/v1/") not in _LISTS:
            raise _NotThere
        wanted = set(fields.get("types[]", []))
        found = [one for one in self._books.of(path) if not wanted or one.get("type") in wanted]
        if path == _CODES:
            found = codes.matching(found, fields)
        try:
            return words.page(path, found, {name: values[0] for name, values in fields.items()})
        except ValueError as error:
            raise InvalidField("A list takes created[gte], created[lt], starting_after and limit.") from error

    def _expanded(self, kept: StripeObject, fields: Fields) -> StripeObject:
        """Return an object with its discounts in place of their ids, where the call asks for them."""
        if "discounts" not in fields.get("expand[]", []) or "discounts" not in kept:
            return kept
        return {**kept, "discounts": self._discounts(kept)}

    def _discounts(self, holder: StripeObject) -> list[StripeObject]:
        found = (self._books.find(f"/v1/discounts/{discount_id}") for discount_id in holder["discounts"])
        return [one for one in found if one is not None]

    def _make_endpoint(self, fields: Fields) -> StripeObject:
        made = {"url": forms.text(fields, "url"), "enabled_events": list(fields.get("enabled_events[]", ["*"]))}
        return self._made("webhook_endpoint", f"we_{token()}", {**made, "secret": f"whsec_{token()}{token()}"})

    def _make_customer(self, fields: Fields) -> StripeObject:
        made = {
            "email": forms.one(fields, "email"),
            "name": forms.one(fields, "name"),
            "metadata": forms.metadata(fields),
        }
        return self._made("customer", f"cus_{token()}", made)

    def _make_code(self, fields: Fields) -> StripeObject:
        made = codes.promotion_code(fields, coupons=self._books.of(_COUPONS), standing=self._books.of(_CODES))
        return self._made("promotion_code", f"promo_{token()}", made)

    def _subscribe(self, fields: Fields) -> StripeObject:
        customer = self._books.find(f"/v1/customers/{forms.text(fields, 'customer')}")
        if customer is None:
            raise InvalidField("No such customer.", "customer")
        currency = forms.currency(fields, f"{_PRICE}[currency]")
        price = {"unit_amount": forms.cents(fields, f"{_PRICE}[unit_amount]"), "currency": currency}
        metadata, code_id = forms.metadata(fields), forms.one(fields, _CODE)
        started = {
            "status": "active",
            "customer": customer["id"],
            "items": {"data": [{"price": price}]},
            "metadata": metadata,
            "discounts": [self._redeem(code_id, currency)["id"]] if code_id is not None else [],
        }
        made = self._made("subscription", f"sub_{token()}", started)
        self._event("customer.subscription.created", made)
        return self._bill(made, "subscription_create")

    def _redeem(self, code_id: str, currency: str) -> StripeObject:
        promotion = self._books.find(f"{_CODES}/{code_id}")
        source = self._books.find(f"{_COUPONS}/{promotion['promotion']['coupon']}") if promotion else None
        codes.require_redeemable(promotion, source, currency=currency, now=_now())
        assert promotion is not None
        assert source is not None
        given = self._keep(codes.discount(f"di_{token()}", promotion, source, now=_now()))
        for one in (promotion, source):
            self._keep({**one, "times_redeemed": one["times_redeemed"] + 1})
        return given

    def _update(self, subscription: StripeObject, fields: Fields) -> StripeObject:
        """Write metadata on a subscription; other names keep their values."""
        before, written = subscription["metadata"], forms.metadata(fields)
        updated = self._keep({**subscription, "metadata": before | written})
        previous = {"metadata": {name: before.get(name) for name in written}}
        self._event("customer.subscription.updated", updated, previous)
        return updated

    def _renew(self, subscription: StripeObject, fields: Fields) -> StripeObject:
        if forms.text(fields, "billing_cycle_anchor") != "now":
            raise InvalidField("A subscription takes metadata, or billing_cycle_anchor=now.", "billing_cycle_anchor")
        latest = self._books.find(f"/v1/invoices/{subscription['latest_invoice']}") or {"created": 0}
        while _now() <= latest["created"]:  # two payments of a subscription are never of one second
            time.sleep(0.05)
        return self._bill(subscription, "subscription_cycle")

    def _bill(self, subscription: StripeObject, reason: str) -> StripeObject:
        """Have the customer pay what the subscription costs; return it with its latest invoice."""
        customer = self._books.find(f"/v1/customers/{subscription['customer']}") or {}
        price, now = subscription["items"]["data"][0]["price"], _now()
        given = [one for one in self._discounts(subscription) if codes.is_in_force(one, now=now)]
        off = sum(codes.off(one, price["unit_amount"]) for one in given)
        paid = PaidInvoice(
            token=token(),
            subscription=subscription["id"],
            customer=subscription["customer"],
            email=customer.get("email"),
            cents=price["unit_amount"] - off,
            off_cents=off,
            currency=price["currency"],
            reason=reason,
            paid_at=now,
            metadata=subscription["metadata"],
            discounts=[one["id"] for one in given],
        )
        invoice = self._keep(paid.invoice())
        going_on = [one["id"] for one in given if not codes.is_for_once(one)]
        billed = self._keep({**subscription, "latest_invoice": invoice["id"], "discounts": going_on})
        if paid.cents:  # what is free has no charge
            payment = self._keep(paid.payment())
            self._keep(paid.charge())
        self._event("invoice.paid", invoice)
        if paid.cents:
            self._event("invoice_payment.paid", payment)
        return billed

    def _refund(self, fields: Fields) -> StripeObject:
        charge = self._books.find(f"/v1/charges/{forms.text(fields, 'charge')}")
        if charge is None:
            raise InvalidField("No such charge.", "charge")
        left = charge["amount"] - charge["amount_refunded"]
        wanted = forms.cents(fields, "amount") if "amount" in fields else left
        if left == 0:
            raise InvalidField("The charge has been refunded already.", "charge")
        if wanted > left:
            raise InvalidField(f"The refund of {wanted} is greater than what is left of the charge ({left}).", "amount")
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

    def _event(self, kind: str, about: StripeObject, previous: StripeObject | None = None) -> None:
        event = self._keep(words.event(f"evt_{token()}", kind, about, created=_now(), previous=previous))
        for endpoint in self._books.of("/v1/webhook_endpoints"):
            if not {kind, "*"}.isdisjoint(endpoint["enabled_events"]):
                self._tell(event, endpoint)


class _NotThere(Exception):
    pass


def _now() -> int:
    return int(time.time())
