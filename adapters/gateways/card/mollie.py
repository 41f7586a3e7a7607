"""mollie: payments, and the refunds and chargebacks of them, each under its own id and never by running totals.

There are two kinds of calls. The classic one names a payment in a form and is not signed, so a job always reads
the payment. The signed one (`X-Mollie-Signature`) is an event. Payments without either are found in the lists.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from adapters.gateways import proofs, shapes
from adapters.gateways.adapter import OneWebhookAdapter, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    GatewayAccount,
    GatewayDelivery,
    Inbound,
    Known,
    NotProved,
)
from adapters.gateways.wire import GatewayApi, bearer, parse_json
from domain.gateways import amounts, referrals
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    DisputeFact,
    DisputeState,
    Fact,
    Facts,
    IgnoredFact,
    PaymentFact,
    RefundFact,
    RestoredFact,
    UnreadableEvent,
)

_PAGE = 250
_SIGNATURE = "X-Mollie-Signature"
_MADE_BY = ("live_", "test_")
_ID = re.compile(r"[a-z]{2,8}_[A-Za-z0-9]{1,64}")
# How long before the start of a list something may have been made that was decided since: a bank transfer is paid, a
# refund is carried out, a chargeback is reversed.
_DECIDED_LATE = {
    "payments": timedelta(days=14),
    "refunds": timedelta(days=5),
    "chargebacks": timedelta(days=120),
}

# The events of a webhook. The other states of a refund move no money; a payment link's payment has its own event.
_EVENTS = ("payment.paid", "refund.refunded", "refund.failed", "chargeback.received", "chargeback.reversed")

_METHOD = "mollie_metadata"
# The type of an order's lines for delivery.
_SHIPPING = "shipping_fee"


class Mollie(OneWebhookAdapter):
    name = "mollie"
    label = "Mollie"
    kind = "card"
    fields = (
        CredentialField("apiKey", "API key", "Developers, API keys: live_… or test_…"),
        CredentialField("webhookSecret", "Webhook secret", "Only for a webhook that you made", required=False),
    )
    capabilities = Capabilities(
        disputes=(DisputeState.Lost, DisputeState.Won),
        lacks=(
            "Mollie has no discount codes.",
            "Payments whose webhook is not ours are found within a quarter of an hour.",
        ),
    )
    polls = timedelta(minutes=15)
    webhooks_path = "/webhooks"
    webhook_secret = ("webhookSecret",)
    by_hand = (
        "Open Developers, Webhooks, and add a webhook for the address below with the events below.",
        "Copy its secret into this connection as webhookSecret.",
        "Or give the address below as webhookUrl of your payments and subscriptions. Payments with another webhookUrl,"
        " and what happens to them, are found by reading your lists every quarter of an hour.",
    )
    sent_events = _EVENTS
    customer_path = "/customers/{customer}"
    # A payment has a copy of the subscription's metadata, as it was when the payment was made.
    subscription_path = "/customers/{customer}/subscriptions/{subscription}"

    def api(self, account: GatewayAccount) -> GatewayApi:
        return GatewayApi("mollie", "https://api.mollie.com/v2", bearer(account.credentials.get("apiKey", "")))

    def check(self, account: GatewayAccount) -> Known:
        profile = self.api(account).get("/profiles/me")
        key = account.credentials.get("apiKey", "")
        is_live = key.startswith("live_") if key.startswith(_MADE_BY) else None
        profile_id = shapes.require(profile, "id")
        return Known(shapes.text(profile, "name") or profile_id, is_live, (profile_id,))

    def make_webhook(self, account: GatewayAccount, address: str) -> Any:
        webhook = {"name": "Finderfee", "url": address, "eventTypes": list(_EVENTS)}
        return self.api(account).request("POST", self.webhooks_path, json=webhook).json

    def verify(self, account: GatewayAccount, request: Inbound) -> None:
        """Check `X-Mollie-Signature`, any number of digests of the body; without it only a classic call is accepted."""
        signature = request.headers.get(_SIGNATURE)
        if signature:
            digests = [part.strip().removeprefix("sha256=") for part in signature.split(",")]
            secrets = account.secrets("webhookSecret")
            proofs.require_match(digests, (proofs.hex_digest(secret.encode(), request.body) for secret in secrets))

    def read_delivery(self, request: Inbound) -> GatewayDelivery:
        if request.headers.get(_SIGNATURE):
            return super().read_delivery(request)
        called_id = _called_id(request.body)
        if called_id is None:
            raise NotProved
        # Every change causes the same call, so each call is another event: the payment is read again.
        key = f"call:{called_id}:{request.received_at.timestamp():.6f}"
        return GatewayDelivery(key, "call", request.body, called_id)

    def read_event(self, raw: bytes) -> Any:
        """Return an event, or the id that a classic call names."""
        return _called_id(raw) or super().read_event(raw)

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        if not isinstance(event, str) or not _ID.fullmatch(event):
            return _translate(self.api(account), event)
        is_payment = event.startswith("tr_")
        return _read_payment(self.api(account), event) if is_payment else IgnoredFact("unknown_type")

    def read_carriers(self, holder: Any) -> tuple[Carrier, ...]:
        return _carriers(holder)

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the payments, refunds and chargebacks since then, each list from its newest."""
        api = self.api(account)
        yield from _pages(api, "payments", since, lambda item: _list_payment(item, since))
        yield from _pages(api, "refunds", since, _list_refund)
        yield from _pages(api, "chargebacks", since, lambda item: _list_chargeback(item, since))


GATEWAY = Mollie()


def _called_id(body: bytes) -> str | None:
    """Return the id that a classic call names; None for a body that is no such call."""
    try:
        fields = dict(parse_qsl(body.decode("ascii"), max_num_fields=10))
    except ValueError:
        return None
    called_id = fields.get("id", "")
    return called_id if _ID.fullmatch(called_id) else None


def _pages(
    api: GatewayApi, name: str, since: datetime, read: Callable[[Any], GatewayDelivery | None]
) -> Iterator[Sequence[GatewayDelivery]]:
    """Yield the objects of a list, the newest first, as far back as one may have been decided since then."""
    oldest = since - _DECIDED_LATE[name]
    params: dict[str, str | int] = {"limit": _PAGE}
    while True:
        page = api.get(f"/{name}", params)
        items = shapes.items(page, "_embedded", name)
        young = [item for item in items if shapes.moment(item, "createdAt") >= oldest]
        if deliveries := [delivery for item in young if (delivery := read(item)) is not None]:
            yield deliveries
        next_page = shapes.text(page, "_links", "next", "href")
        if next_page is None or not young or young[-1] is not items[-1]:
            return
        after = dict(parse_qsl(next_page.partition("?")[2])).get("from")
        if after is None or after == params.get("from"):
            return
        params = {**params, "from": after}


def _list_payment(payment: Any, since: datetime) -> GatewayDelivery | None:
    if shapes.text(payment, "status") != "paid" or _paid_at(payment) < since:
        return None
    return _to_delivery("payment.paid", payment, shapes.require(payment, "id"))


def _list_refund(refund: Any) -> GatewayDelivery | None:
    if shapes.text(refund, "status") != "refunded":
        return None
    return _to_delivery("refund.refunded", refund, shapes.require(refund, "id"))


def _list_chargeback(chargeback: Any, since: datetime) -> GatewayDelivery | None:
    chargeback_id, reversed_at = shapes.require(chargeback, "id"), shapes.get(chargeback, "reversedAt")
    if reversed_at is not None:
        is_new = shapes.moment(reversed_at) >= since
        key, kind = f"{chargeback_id}:reversed", "chargeback.reversed"
    else:
        is_new = shapes.moment(chargeback, "createdAt") >= since
        key, kind = chargeback_id, "chargeback.received"
    return _to_delivery(kind, chargeback, key) if is_new else None


def _to_delivery(kind: str, entity: Any, key: str) -> GatewayDelivery:
    event = {"type": kind, "createdAt": shapes.get(entity, "createdAt"), "_embedded": {"entity": entity}}
    return make_listed(key, kind, {**event, "entityId": shapes.text(entity, "id")})


def _translate(api: GatewayApi, event: Any) -> Facts:
    """Translate an event. The parts that a simple one lacks are read."""
    kind = shapes.text(event, "type")
    if kind is None:
        raise UnreadableEvent("type is missing")
    if kind not in _EVENTS:
        return IgnoredFact("unknown_type")
    entity_id, entity = shapes.require(event, "entityId"), _entity(event)
    if kind == "payment.paid":
        return _read_payment(api, entity_id) if entity is None else _payment(entity)
    if entity is None:
        entity = _entity(api.find(f"/events/{shapes.segment(shapes.require(event, 'id'))}"))
    payment_id = shapes.require(entity, "paymentId")
    if kind.startswith("refund."):
        return _refund(entity, payment_id, shapes.moment(event, "createdAt"))
    return _chargeback(entity, payment_id, is_back=kind == "chargeback.reversed")


def _read_payment(api: GatewayApi, payment_id: str) -> Facts:
    """Read a payment with its refunds and chargebacks."""
    payment = api.find(f"/payments/{shapes.segment(payment_id)}", {"embed": "refunds,chargebacks"})
    if payment is None:
        return IgnoredFact("unknown_there")
    facts = [_payment(payment)]
    for refund in shapes.items(payment, "_embedded", "refunds"):
        facts += shapes.read_alongside_sale(partial(_refund, refund, payment_id))
    for chargeback in shapes.items(payment, "_embedded", "chargebacks"):
        facts += shapes.read_alongside_sale(partial(_chargeback, chargeback, payment_id))
    return tuple(facts)


def _paid_at(payment: Any) -> datetime:
    """Return when a payment was paid."""
    return shapes.moment(payment, "createdAt" if shapes.get(payment, "paidAt") is None else "paidAt")


def _carriers(holder: Any) -> tuple[Carrier, ...]:
    """Return the metadata of a payment or a customer as a carrier: an object, one as a text, or a query."""
    metadata = shapes.get(holder, "metadata")
    fields: Mapping[str, str] = shapes.table(metadata)
    if isinstance(metadata, str):
        fields = _fields(metadata)
    return (Carrier(_METHOD, fields),) if fields else ()


def _payment(payment: Any) -> Fact:
    if shapes.text(payment, "status") != "paid":
        return IgnoredFact("not_paid")
    currency = amounts.currency(shapes.get(payment, "amount", "currency"))
    paid = amounts.from_decimal(shapes.get(payment, "amount", "value"), currency)
    origin = BuyerOrigin(
        customer_id=shapes.identity(payment, "customerId"),
        email=shapes.text(payment, "billingAddress", "email"),
        name=shapes.full_name(shapes.get(payment, "billingAddress"), "givenName", "familyName"),
        subscription_id=shapes.identity(payment, "subscriptionId"),
        carriers=_carriers(payment),
        is_test=shapes.text(payment, "mode") == "test",
    )
    return PaymentFact(
        external_id=shapes.require(payment, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=_paid_at(payment),
        origin=origin,
        net_cents=_net(payment, paid, currency),
        order_id=shapes.identity(payment, "orderId"),
    )


def _refund(refund: Any, payment_id: str, changed_at: datetime | None = None) -> Fact:
    at = changed_at or shapes.moment(refund, "createdAt")
    refund_id, status = shapes.require(refund, "id"), shapes.text(refund, "status")
    if status == "failed":
        return RestoredFact(sale_ids=(payment_id,), restored_at=at, refund_id=refund_id)
    if status != "refunded":
        return IgnoredFact("no_money_moved")
    currency = amounts.currency(shapes.get(refund, "amount", "currency"))
    return RefundFact(
        refund_id=refund_id,
        sale_ids=(payment_id,),
        amount_cents=amounts.from_decimal(shapes.get(refund, "amount", "value"), currency),
        currency=currency,
        refunded_at=at,
        reason=shapes.text(refund, "description"),
    )


def _chargeback(chargeback: Any, payment_id: str, *, is_back: bool = False) -> Fact:
    reversed_at = shapes.get(chargeback, "reversedAt")
    is_won = is_back or reversed_at is not None
    currency = amounts.currency(shapes.get(chargeback, "amount", "currency"))
    return DisputeFact(
        dispute_id=shapes.require(chargeback, "id"),
        sale_ids=(payment_id,),
        state=DisputeState.Won if is_won else DisputeState.Lost,
        at=shapes.moment(chargeback, "createdAt") if reversed_at is None else shapes.moment(reversed_at),
        amount_cents=amounts.from_decimal(shapes.get(chargeback, "amount", "value"), currency),
        currency=currency,
    )


def _entity(event: Any) -> Any:
    return shapes.get(event, "_embedded", "entity")


def _fields(written: str) -> Mapping[str, str]:
    if "{" not in written:
        return referrals.fields_from_query(written)
    try:
        return shapes.table(parse_json(written.encode()))
    except ValueError:
        return {}


def _net(payment: Any, paid: int, currency: str) -> int | None:
    """Return the payment without tax and delivery; None where a line's is unknown."""
    lines = shapes.items(payment, "lines")
    return amounts.subtract_parts(paid, _sum_apart(lines, currency)) if lines else None


def _sum_apart(lines: list[Any], currency: str) -> int | None:
    """Return the tax of all lines and the whole of those that are delivery; a discount gives its tax back."""
    total = 0
    for line in lines:
        whole = shapes.text(line, "totalAmount", "value") or ""
        tax = shapes.text(line, "vatAmount", "value") or ""
        is_discount = whole.startswith("-")
        figure = whole if shapes.text(line, "type") == _SHIPPING else tax
        apart = amounts.parse_exact_decimal(figure.removeprefix("-") if is_discount else figure, currency)
        if apart is None:
            return None
        total += -apart if is_discount else apart
    return total if total >= 0 else None
