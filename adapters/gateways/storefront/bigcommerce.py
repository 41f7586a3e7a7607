"""bigcommerce: its callbacks hold ids only; orders, refunds and what belongs to them are read at the store.

A sale's id is its order's. A callback is proved by its signature, and by a word of ours that comes with every one.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
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
    GatewayUnreachable,
    Inbound,
    Known,
    NotProved,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.storefront import bigcommerce_facts
from adapters.gateways.wire import GatewayWire, dumped
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact, IgnoredFact, UnreadableEvent

_STATUS, _REFUND = "store/order/statusUpdated", "store/order/refund/created"
_NEEDED = ("store/order/created", _STATUS, "store/order/updated", "store/order/archived", _REFUND)
_UNINSTALLED = "store/app/uninstalled"  # only apps have it
_PAGE = 100
_HASH = re.compile(r"[A-Za-z0-9]{1,64}")


class BigCommerce:
    """The adapter; it has no state."""

    name = "bigcommerce"
    label = "BigCommerce"
    kind = "storefront"
    fields = (
        CredentialField("storeHash", "Store hash", "The part behind stores/ of the API path", secret=False),
        CredentialField("accessToken", "Access token", "Settings, Store-level API accounts"),
        CredentialField("clientId", "Client ID", "Shown once with the access token", secret=False),
        CredentialField("clientSecret", "Client secret", "Shown once with the access token"),
    )
    capabilities = Capabilities(
        coupons=True,
        own_ids=True,
        disputes=(DisputeState.Opened, DisputeState.Won),
        leaves=True,
        webhooks_belong_to="clientId",
        lacks=(
            "Disputes are told for PayPal only, and without how they end: an order that leaves the status Disputed is"
            " released.",
            "Subscriptions and trials belong to apps, whose renewals are ordinary orders.",
        ),
    )
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Read what the store is called. Its token never changes: a rotation is another API account of the store."""
        store = api(account).get("/v2/store")
        store_hash = account.credentials.get("storeHash", "").strip()
        return Known(shapes.text(store, "name") or store_hash, identity=(store_hash.lower(),))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Make a webhook for each scope, with a word of ours that every callback brings back."""
        wire, token, made = api(account), secrets.token_urlsafe(32), list[str]()
        hook = {"destination": address, "is_active": True, "headers": {"X-Hook-Token": token}}
        try:
            for scope in _NEEDED:
                made.append(_hook(wire, {"scope": scope, **hook}))
            with suppress(GatewayRejected):
                made.append(_hook(wire, {"scope": _UNINSTALLED, **hook}))
        except (CredentialsRefused, GatewayRejected, GatewayUnreachable, UnreadableEvent):
            with suppress(CredentialsRefused, GatewayRejected, GatewayUnreachable):
                _unhook(wire, made)
            raise
        return Subscribed({"webhooks": " ".join(made), "hookToken": token})

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Delete the webhooks that we made."""
        _unhook(api(account), account.made.get("webhooks", "").split())

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check our own word, and the Standard Webhooks signature, five minutes either way.

        A callback of the older kind has no signature: then our word alone is the proof.
        """
        words = account.secrets("hookToken")
        if words:
            proofs.require_match([request.headers.get("X-Hook-Token", "")], words)
        webhook_id, signature = request.headers.get("webhook-id"), request.headers.get("webhook-signature")
        if webhook_id is not None or signature is not None:
            at = request.headers.get("webhook-timestamp", "")
            proofs.require_recent(at, request.received_at.timestamp())
            signed = f"{webhook_id or ''}.{at}.".encode("utf-8", "surrogateescape") + request.body
            expected = [proofs.base64_digest(key.encode(), signed) for key in account.secrets("clientSecret")]
            sent = [part.partition(",") for part in (signature or "").split()]
            proofs.require_match((digest for version, _, digest in sent if version == "v1"), expected)
        elif not words:
            raise NotProved
        delivery = _delivery(request.body, webhook_id)
        word = request.headers.get("X-Hook-Token", "")
        if delivery.type == _UNINSTALLED and account.has_changed("clientId") and word != account.made.get("hookToken"):
            return ProvedRequest(())  # a former API account left the store
        return ProvedRequest((delivery,))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Read at the store what a callback is about, as it is now."""
        told = events.kept(delivery.raw)
        scope = shapes.needed(told, "scope")
        read = bigcommerce_facts.READERS.get(scope)
        return read(api(account), told) if read else (IgnoredFact("unknown_type"),)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return it as it is: all that belongs to an order was read with it."""
        return origin

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Have the webhooks active, then read the orders that changed since then, and the refunds."""
        wire, start = api(account), shapes.utc(since)
        _wake(wire, account.made.get("webhooks", "").split())
        for page in _pages(wire, "/v2/orders", {"min_date_modified": start, "sort": "id:asc"}):
            if found := [item for order in page for item in _listed_order(order)]:
                yield found
        for page in _pages(wire, "/v3/orders/payment_actions/refunds", {"created:min": start}):
            yield [_listed_refund(refund) for refund in page]


GATEWAY = BigCommerce()


def api(account: GatewayAccount) -> GatewayWire:
    store = account.credentials.get("storeHash", "").strip()
    if not _HASH.fullmatch(store):
        raise CredentialsRefused("the store hash is letters and digits, such as abc123")
    headers = {"X-Auth-Token": account.credentials.get("accessToken", "")}
    return GatewayWire("bigcommerce", f"https://api.bigcommerce.com/stores/{store}", headers)


def _hook(wire: GatewayWire, hook: Mapping[str, object]) -> str:
    return shapes.needed(wire.ask("POST", "/v3/hooks", json=hook).json, "data", "id")


def _unhook(wire: GatewayWire, hooks: Sequence[str]) -> None:
    for hook in hooks:
        wire.drop(f"/v3/hooks/{hook}")


def _wake(wire: GatewayWire, hooks: Sequence[str]) -> None:
    """Have webhooks active again that the store gave up; one that somebody deleted is not made anew."""
    for hook in hooks:
        known = wire.find(f"/v3/hooks/{hook}")
        if shapes.at(known, "data", "is_active") is False:
            with suppress(GatewayRejected):
                wire.ask("PUT", f"/v3/hooks/{hook}", json={"is_active": True})


def _delivery(body: bytes, webhook_id: str | None) -> GatewayDelivery:
    told = events.glance(body)
    return events.delivery(body, webhook_id or shapes.text(told, "hash"), shapes.text(told, "scope"))


def _pages(wire: GatewayWire, path: str, params: Mapping[str, str]) -> Iterator[list[Any]]:
    """Yield the pages of a list; an empty one has no body, in the newer interface it has no items."""
    number, is_last = 1, False
    while not is_last:
        said = wire.get(path, {**params, "limit": _PAGE, "page": number})
        page = shapes.items(said, "data") if path.startswith("/v3/") else shapes.items(said)
        if page:
            yield page
        number, is_last = number + 1, len(page) < _PAGE


def _listed_order(order: Any) -> Iterator[GatewayDelivery]:
    order_id, has_no_money = shapes.needed(order, "id"), bigcommerce_facts.has_no_money(order)
    if bigcommerce_facts.is_paid(order):
        raw = {"scope": _STATUS, "data": {"type": "order", "id": order_id}}
        yield GatewayDelivery(f"reconcile:{order_id}", _STATUS, dumped(raw))
    elif not has_no_money:
        return
    changed = shapes.later_change(
        lambda: bigcommerce_facts.placed_at(order),
        lambda: bigcommerce_facts.changed_at(order),
        anyhow=has_no_money,
    )
    if changed:  # it may be known with another total, or be cancelled by now
        kind = bigcommerce_facts.LISTED_CHANGE
        yield GatewayDelivery(f"reconcile:{order_id}:{changed}", kind, dumped({"scope": kind, "order": order}))


def _listed_refund(refund: Any) -> GatewayDelivery:
    order_id, refund_id = shapes.needed(refund, "order_id"), shapes.needed(refund, "id")
    raw = {"scope": _REFUND, "data": {"type": "order", "id": order_id, "refund": {"refund_id": refund_id}}}
    return GatewayDelivery(f"reconcile:{bigcommerce_facts.refund_name(refund_id)}", _REFUND, dumped(raw))
