"""lemonsqueezy: paid orders are sales, and so are invoices of subscriptions behind the first.

A sale's id is `order:{id}` or `invoice:{id}`. Refunds are running totals. Custom data comes with events alone: what is
read from a list names nobody.
"""

import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from adapters.gateways import events, proofs, shapes
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    Inbound,
    Known,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.digital import lemonsqueezy_facts
from adapters.gateways.wire import GatewayWire, bearer, dumped
from domain.gateways.facts import BuyerOrigin, Fact

_JSON_API = "application/vnd.api+json"
_PAGE = 100
_SECRET_BYTES = 20  # as hex it is the longest that they take
_BY_HAND = ("Open Settings, Webhooks, and add one with the address, the secret and the events below.",)
# Refunds have no list of their own; how old a payment may be for a refund of it to be found.
_REFUNDED_WITHIN = timedelta(days=30)


class LemonSqueezy:
    """The adapter; it has no state."""

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
            "A payment whose webhook was lost is credited by history, code or email alone.",
            "A refund whose webhook was lost is found for payments of the last 30 days.",
            "Chargebacks are not told as such.",
        ),
    )
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Ask whose key it is, and whether it sees the store."""
        wire = api(account)
        said = wire.get("/users/me")
        store = wire.find(f"/stores/{shapes.segment(account.credentials.get('storeId', ''))}")
        if shapes.text(store, "data", "id") is None:
            raise CredentialsRefused("the key sees no store of this id")
        is_test = shapes.at(said, "meta", "test_mode")
        name = shapes.text(store, "data", "attributes", "name") or shapes.text(store, "data", "id") or ""
        store_id = shapes.needed(store, "data", "id")
        return Known(name, None if not isinstance(is_test, bool) else not is_test, (store_id,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Make the webhook, with a secret of ours; where they say no, the brand makes it with the same secret."""
        secret = secrets.token_hex(_SECRET_BYTES)
        names = list(lemonsqueezy_facts.EVENTS)
        wanted = {
            "type": "webhooks",
            "attributes": {"url": address, "events": names, "secret": secret, "test_mode": account.mode == "test"},
            "relationships": {"store": {"data": {"type": "stores", "id": account.credentials.get("storeId", "")}}},
        }
        try:
            made = api(account).ask("POST", "/webhooks", json={"data": wanted}).json
        except GatewayRejected:
            return Subscribed({"webhookSecret": secret}, events.by_hand(address, _BY_HAND, names, signingSecret=secret))
        return Subscribed({"webhook": shapes.needed(made, "data", "id"), "webhookSecret": secret})

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Delete the webhook that we made."""
        if webhook := account.made.get("webhook"):
            api(account).drop(f"/webhooks/{shapes.segment(webhook)}")

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check `X-Signature`, a digest of the body."""
        expected = (proofs.hex_digest(secret.encode(), request.body) for secret in account.secrets("webhookSecret"))
        proofs.require_match([request.headers.get("X-Signature", "")], expected)
        return ProvedRequest((_delivery(request.body),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate an event, or an order or invoice that was read from a list."""
        event = _event(delivery.raw)
        return lemonsqueezy_facts.read(api(account), event)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return the origin: every object names its buyer, and no other knows more."""
        return origin

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the orders and invoices, the newest first."""
        wire, store = api(account), account.credentials.get("storeId", "")
        for path, kind in (("/orders", "order"), ("/subscription-invoices", "invoice")):
            for page in _pages(wire, path, store, since - _REFUNDED_WITHIN):
                found = [delivery for item in page for delivery in _listed(kind, item, since)]
                if found:
                    yield found


GATEWAY = LemonSqueezy()


def api(account: GatewayAccount) -> GatewayWire:
    headers = {**bearer(account.credentials.get("apiKey", "")), "Accept": _JSON_API, "Content-Type": _JSON_API}
    return GatewayWire("lemonsqueezy", "https://api.lemonsqueezy.com/v1", headers)


def _event(raw: bytes) -> Any:
    event = events.kept(raw)
    shapes.needed(event, "meta", "event_name")
    shapes.needed(event, "data", "id")
    return event


def _delivery(body: bytes) -> GatewayDelivery:
    event = events.glance(body)
    kind = shapes.text(event, "meta", "event_name")
    parts = [kind, shapes.text(event, "data", "id"), shapes.text(event, "data", "attributes", "updated_at")]
    key = ":".join(part for part in parts if part) if all(parts) else proofs.fingerprint(body)
    return GatewayDelivery(key, kind or "unreadable", body, shapes.text(event, "meta", "webhook_id"))


def _pages(wire: GatewayWire, path: str, store: str, since: datetime) -> Iterator[Sequence[Any]]:
    """Yield pages down to one that is older as a whole."""
    number = 1
    while True:
        params: dict[str, str | int] = {"filter[store_id]": store, "page[number]": number, "page[size]": _PAGE}
        page = wire.get(path, params)
        found = [item for item in shapes.items(page, "data") if _made_at(item) >= since]
        if not found:
            return
        yield found
        last = shapes.at(page, "meta", "page", "lastPage")
        if not isinstance(last, int) or number >= last:
            return
        number += 1


def _made_at(item: Any) -> datetime:
    return shapes.moment(item, "attributes", "created_at")


def _listed(kind: str, item: Any, since: datetime) -> Iterator[GatewayDelivery]:
    """Yield a payment since then, and what went back of it; that grows, and each figure is told once."""
    if shapes.text(item, "attributes", "status") not in lemonsqueezy_facts.PAID:
        return
    external = f"{kind}:{shapes.needed(item, 'id')}"
    paid, refunded = lemonsqueezy_facts.TOLD_BY[kind]
    if _made_at(item) >= since:
        yield _told(paid, external, item)
    back = shapes.text(item, "attributes", "refunded_amount") or "0"
    if back != "0" or shapes.at(item, "attributes", "refunded") is True:
        yield _told(refunded, f"{external}:refunded:{back}", item)


def _told(event_name: str, external: str, item: Any) -> GatewayDelivery:
    event = {"meta": {"event_name": event_name, "from_list": True}, "data": item}
    return GatewayDelivery(f"reconcile:{external}", event_name, dumped(event))
