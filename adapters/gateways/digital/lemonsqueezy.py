"""lemonsqueezy: paid orders are sales, and so are the invoices of a subscription after its first.

A sale's id is `order:{id}` or `invoice:{id}`. The first payment of a subscription is its order; its first invoice
repeats the same money, unless the order was free. Refunds are running totals, reported for the order, the invoice or
both: the larger one counts. Only events have custom data: listed payments name no affiliate.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from adapters.gateways import proofs, shapes
from adapters.gateways.adapter import StoredWebhookAdapter, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    Inbound,
    Known,
    Subscribed,
)
from adapters.gateways.wire import GatewayApi, bearer
from domain.gateways import amounts
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    Fact,
    Facts,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    ReferralFact,
    RefundFact,
    StartFact,
    UnreadableEvent,
)

_JSON_API = "application/vnd.api+json"
_PAGE = 100
_SECRET_BYTES = 20  # as hex it has the maximum length
# Refunds have no list of their own; how old a payment may be for a refund of it to be found.
_REFUNDED_WITHIN = timedelta(days=30)
_EVENTS = (
    "order_created",
    "order_refunded",
    "subscription_created",
    "subscription_payment_success",
    "subscription_payment_refunded",
)
# States of orders and invoices that were paid; `partial_refund` occurs, but is not documented.
_PAID = ("paid", "refunded", "partial_refund")
# The events of a payment and of a refund, by the object that they are about.
_EVENTS_OF: Mapping[str, tuple[str, str]] = {
    "order": ("order_created", "order_refunded"),
    "invoice": ("subscription_payment_success", "subscription_payment_refunded"),
}


class LemonSqueezy(StoredWebhookAdapter):
    name = "lemonsqueezy"
    label = "Lemon Squeezy"
    kind = "digital_goods"
    fields = (
        CredentialField("apiKey", "API key", "Settings, API; a key is good for one year"),
        CredentialField("storeId", "Store id", "Settings, Stores: the number behind the #", secret=False),
    )
    capabilities = Capabilities(
        coupons=True,
        trials=True,
        lacks=(
            "A payment whose webhook was lost is credited only by history, code or email.",
            "A refund whose webhook was lost is found for payments of the last 30 days.",
            "Chargebacks are not reported as such.",
        ),
    )
    proof = proofs.BodyDigest("X-Signature")
    webhooks_path = "/webhooks"
    by_hand = ("Open Settings, Webhooks, and add one with the address, the secret and the events below.",)
    sent_events = _EVENTS

    def api(self, account: GatewayAccount) -> GatewayApi:
        headers = {**bearer(account.credentials.get("apiKey", "")), "Accept": _JSON_API, "Content-Type": _JSON_API}
        return GatewayApi("lemonsqueezy", "https://api.lemonsqueezy.com/v1", headers)

    def check(self, account: GatewayAccount) -> Known:
        """Read whose key it is, and whether it sees the store."""
        api = self.api(account)
        user = api.get("/users/me")
        store = api.find(f"/stores/{shapes.segment(account.credentials.get('storeId', ''))}")
        if shapes.text(store, "data", "id") is None:
            raise CredentialsRefused("the key sees no store of this id")
        is_test = shapes.get(user, "meta", "test_mode")
        name = shapes.text(store, "data", "attributes", "name") or shapes.text(store, "data", "id") or ""
        store_id = shapes.require(store, "data", "id")
        return Known(name, None if not isinstance(is_test, bool) else not is_test, (store_id,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Create the webhook with our secret; if that is refused, the brand creates it with the same secret."""
        secret, is_test = secrets.token_hex(_SECRET_BYTES), account.mode == "test"
        webhook = {
            "type": "webhooks",
            "attributes": {"url": address, "events": list(_EVENTS), "secret": secret, "test_mode": is_test},
            "relationships": {"store": {"data": {"type": "stores", "id": account.credentials.get("storeId", "")}}},
        }
        try:
            response = self.api(account).request("POST", self.webhooks_path, json={"data": webhook}).json
        except GatewayRejected:
            return Subscribed({"webhookSecret": secret}, self.setup_by_hand(address, signingSecret=secret))
        return Subscribed({self.webhook_key: shapes.require(response, "data", "id"), "webhookSecret": secret})

    def read_delivery(self, request: Inbound) -> GatewayDelivery:
        event = self.glance(request.body)
        kind = shapes.text(event, "meta", "event_name")
        parts = [kind, shapes.text(event, "data", "id"), shapes.text(event, "data", "attributes", "updated_at")]
        key = ":".join(part for part in parts if part) if all(parts) else proofs.fingerprint(request.body)
        return GatewayDelivery(key, kind or "unreadable", request.body, shapes.text(event, "meta", "webhook_id"))

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        """Translate an event, or an order or invoice that was read from a list."""
        name, api = shapes.require(event, "meta", "event_name"), self.api(account)
        object_id, entity = shapes.require(event, "data", "id"), shapes.get(event, "data", "attributes")
        match name:
            case "order_created":
                return _order(api, object_id, entity, _origin(event))
            case "order_refunded":
                return _refund(f"order:{object_id}", entity)
            case "subscription_created":
                return _subscription(object_id, entity, _origin(event))
            case "subscription_payment_success":
                return _invoice(api, object_id, entity, _origin(event))
            case "subscription_payment_refunded":
                order_id = _paid_by_order(api, entity)
                return _refund(f"order:{order_id}" if order_id else f"invoice:{object_id}", entity)
            case _:
                return IgnoredFact("unknown_type")

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the orders and invoices, the newest first."""
        api, store = self.api(account), account.credentials.get("storeId", "")
        for path, kind in (("/orders", "order"), ("/subscription-invoices", "invoice")):
            for page in read_list(api, path, store):
                items = [item for item in page if _made_at(item) >= since - _REFUNDED_WITHIN]
                if not items:
                    break  # the following pages are older
                if deliveries := [delivery for item in items for delivery in _to_deliveries(kind, item, since)]:
                    yield deliveries


GATEWAY = LemonSqueezy()


def read_list(api: GatewayApi, path: str, store: str, *, max_pages: int | None = None) -> Iterator[list[Any]]:
    """Yield the pages of a list of a store, the newest first. Raises as `GatewayApi.get`."""
    number, last = 1, 1
    while number <= last and (max_pages is None or number <= max_pages):
        page = api.get(path, {"filter[store_id]": store, "page[number]": number, "page[size]": _PAGE})
        yield shapes.items(page, "data")
        pages = shapes.get(page, "meta", "page", "lastPage")
        number, last = number + 1, pages if isinstance(pages, int) else 0


def _made_at(item: Any) -> datetime:
    return shapes.moment(item, "attributes", "created_at")


def _to_deliveries(kind: str, item: Any, since: datetime) -> Iterator[GatewayDelivery]:
    """Yield a payment since then, and its total refund; that grows, and each total is listed once."""
    if shapes.text(item, "attributes", "status") not in _PAID:
        return
    external_id = f"{kind}:{shapes.require(item, 'id')}"
    paid, refunded = _EVENTS_OF[kind]
    if _made_at(item) >= since:
        yield _listed_event(paid, external_id, item)
    back = shapes.text(item, "attributes", "refunded_amount") or "0"
    if back != "0" or shapes.get(item, "attributes", "refunded") is True:
        yield _listed_event(refunded, f"{external_id}:refunded:{back}", item)


def _listed_event(event_name: str, external_id: str, item: Any) -> GatewayDelivery:
    return make_listed(external_id, event_name, {"meta": {"event_name": event_name, "from_list": True}, "data": item})


def _order(api: GatewayApi, order_id: str, order: Any, origin: BuyerOrigin) -> Facts:
    if shapes.text(order, "status") not in _PAID:
        return IgnoredFact("not_paid")
    is_discounted = shapes.get(order, "discount_total") != 0
    origin = replace(origin, codes=_codes(api, order_id) if is_discounted else ())
    payment = _payment(f"order:{order_id}", order, origin)
    if payment.amount_cents == 0:  # a trial has an event of its subscription, a free order has none
        return ReferralFact(told_at=payment.paid_at, origin=origin)
    return (payment, *_refund(f"order:{order_id}", order, is_own_event=False))


def _invoice(api: GatewayApi, invoice_id: str, invoice: Any, origin: BuyerOrigin) -> Facts:
    if shapes.text(invoice, "status") not in _PAID:
        return IgnoredFact("not_paid")
    payment = _payment(f"invoice:{invoice_id}", invoice, origin)
    if payment.amount_cents == 0:
        return IgnoredFact("zero_amount")
    order_id = _paid_by_order(api, invoice)
    if order_id is not None:
        return IgnoredFact("duplicate_of_another_event")
    return (payment, *_refund(f"invoice:{invoice_id}", invoice, is_own_event=False))


def _subscription(subscription_id: str, subscription: Any, origin: BuyerOrigin) -> Fact:
    at = shapes.moment(subscription, "created_at")
    origin = replace(origin, subscription_id=subscription_id)
    if shapes.text(subscription, "status") == "on_trial":
        return StartFact(external_id=subscription_id, started_at=at, origin=origin)
    return ReferralFact(told_at=at, origin=origin)


def _paid_by_order(api: GatewayApi, invoice: Any) -> str | None:
    """Return the order whose money an invoice is; None for an invoice with money of its own."""
    if shapes.text(invoice, "billing_reason") != "initial":
        return None
    subscription_id = shapes.require(invoice, "subscription_id")
    subscription = api.get(f"/subscriptions/{shapes.segment(subscription_id)}")
    order_id = shapes.require(subscription, "data", "attributes", "order_id")
    order = shapes.get(api.get(f"/orders/{shapes.segment(order_id)}"), "data", "attributes")
    return order_id if _amount(order, "total") else None


def _payment(external_id: str, holder: Any, origin: BuyerOrigin) -> PaymentFact:
    paid, currency = _amount(holder, "total"), amounts.currency(shapes.get(holder, "currency"))
    return PaymentFact(
        external_id=external_id,
        amount_cents=paid,
        currency=currency,
        paid_at=shapes.moment(holder, "created_at"),
        origin=origin,
        net_cents=amounts.subtract_parts(paid, amounts.parse_exact_minor(shapes.get(holder, "tax"), currency)),
    )


def _refund(sale_id: str, holder: Any, *, is_own_event: bool = True) -> tuple[Fact, ...]:
    """Return the total refund; without a known one, a fact only if the event is a refund's own."""
    currency = amounts.currency(shapes.get(holder, "currency"))
    is_whole, figure = shapes.get(holder, "refunded") is True, shapes.get(holder, "refunded_amount")
    if figure is None and not is_whole and is_own_event:
        raise UnreadableEvent("refunded_amount is missing")
    read = amounts.from_minor if is_own_event and figure is not None else amounts.parse_exact_minor
    back = read(figure, currency) or 0
    if not back and not is_whole:
        return (IgnoredFact("no_money_moved"),) if is_own_event else ()
    times = (name for name in ("refunded_at", "updated_at", "created_at") if shapes.text(holder, name))
    refund = RefundFact(
        refund_id=sale_id,
        sale_ids=(sale_id,),
        amount_cents=back or None,
        currency=currency,
        refunded_at=shapes.moment(holder, next(times, "updated_at")),
        is_cumulative=True,
    )
    return (refund,)


def _amount(holder: Any, name: str) -> int:
    return amounts.from_minor(shapes.get(holder, name), amounts.currency(shapes.get(holder, "currency")))


def _origin(event: Any) -> BuyerOrigin:
    meta, holder = shapes.get(event, "meta"), shapes.get(event, "data", "attributes")
    table = shapes.table(meta, "custom_data")
    return BuyerOrigin(
        customer_id=shapes.identity(holder, "customer_id"),
        email=shapes.text(holder, "user_email"),
        name=shapes.text(holder, "user_name"),
        subscription_id=shapes.identity(holder, "subscription_id"),
        carriers=(Carrier("lemonsqueezy_custom_data", table),) if table else (),
        is_test=True in (shapes.get(meta, "test_mode"), shapes.get(holder, "test_mode")),
        is_referral_lost=shapes.get(meta, "from_list") is True,
    )


def _codes(api: GatewayApi, order_id: str) -> tuple[RedeemedCode, ...]:
    redeemed = shapes.items(api.find(f"/orders/{shapes.segment(order_id)}/discount-redemptions"), "data")
    codes = ((shapes.text(item, "attributes", "discount_code") or "", _discount_id(item)) for item in redeemed)
    return tuple(RedeemedCode(text, "lemonsqueezy_coupon_code", id) for text, id in codes if text or id)


def _discount_id(redemption: Any) -> str | None:
    return shapes.identity(redemption, "attributes", "discount_id")
