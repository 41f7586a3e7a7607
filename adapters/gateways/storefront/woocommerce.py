"""woocommerce: orders of a shop on somebody's own server, told whole whenever they change.

A sale's id is its order's. The shop never sends anything twice, and stops after five failures in a row: every
reconciliation has its webhooks active again.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

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
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.storefront import woocommerce_facts
from adapters.gateways.wire import GatewayAnswer, GatewayWire, basic, dumped
from domain import urls
from domain.gateways.facts import BuyerOrigin, Fact, IgnoredFact, UnreadableEvent

_TOPICS = (*woocommerce_facts.CHANGED, woocommerce_facts.DELETED)
_PAGE = 50
# An order with all its lines is large, and an answer that is too large is none.
_READ = (
    "id,status,currency,total,total_tax,shipping_total,customer_id,billing,date_paid_gmt,date_modified_gmt,"
    "meta_data,coupon_lines,refunds"
)
_PING = re.compile(rb"webhook_id=[0-9]{1,20}")
_STORE = re.compile(r"(?P<scheme>https?://)?(?P<place>[^/?#:\s]+(?::[0-9]+)?(?:/[^?#\s]*)?)(?:[?#]\S*)?", re.IGNORECASE)
# What the shop says to somebody without any credentials: their server took the header away on its way.
_NOBODY = "woocommerce_rest_cannot_"
_TOPIC_NAMES = "Order created, Order updated, Order restored, Order deleted"
_BY_HAND = (
    "Open WooCommerce, Settings, Advanced, Webhooks, and add an active webhook for each of the topics below, with the"
    " address and the secret below.",
    "Or give the key the permission Read/Write and connect again: the webhooks are then made for you.",
)


class WooCommerce:
    """The adapter; it has no state."""

    name = "woocommerce"
    label = "WooCommerce"
    kind = "plugin"
    fields = (
        CredentialField("storeUrl", "Store address", "Such as https://shop.example.com", secret=False),
        CredentialField("consumerKey", "Consumer key", "WooCommerce, Settings, Advanced, REST API: ck_…, Read/Write"),
        CredentialField("consumerSecret", "Consumer secret", "Beside the consumer key: cs_…"),
    )
    capabilities = Capabilities(
        coupons=True,
        own_ids=True,
        own_servers=True,
        lacks=(
            "Chargebacks are not told: refund the order when one is lost.",
            "Trials are not told as such.",
            "Orders have no test flag.",
            "Before WooCommerce 3.6 partial refunds are found by reconciliation only.",
        ),
    )
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Read one order, or that there is none."""
        orders = ask(account, "GET", "/orders", {"per_page": 1}).json
        if not isinstance(orders, list):
            raise GatewayUnreachable("the answer is not a list of orders")
        store = urlsplit(_store(account))
        return Known(store.netloc, identity=(store.netloc.lower() + store.path,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Make the webhooks, with a secret of ours. A key that may only read leaves them to the brand."""
        secret, made = secrets.token_urlsafe(32), list[str]()
        try:
            for topic in _TOPICS:
                hook = {"name": "Finderfee", "topic": topic, "delivery_url": address, "secret": secret}
                said = ask(account, "POST", "/webhooks", json={**hook, "status": "active"}).json
                made.append(shapes.needed(said, "id"))
        except (CredentialsRefused, GatewayRejected, GatewayUnreachable, UnreadableEvent) as error:
            with suppress(CredentialsRefused, GatewayRejected, GatewayUnreachable):
                _unhook(account, made)
            if isinstance(error, GatewayUnreachable | UnreadableEvent):
                raise
            left = events.by_hand(address, _BY_HAND, secret=secret, topics=_TOPIC_NAMES)
            return Subscribed({"webhookSecret": secret}, left)
        return Subscribed({"webhooks": " ".join(made), "webhookSecret": secret})

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Delete the webhooks that we made."""
        _unhook(account, _hooks(account))

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check `X-WC-Webhook-Signature`. The number that a shop sends, unsigned, when a webhook is saved is heard."""
        if _PING.fullmatch(request.body):
            return ProvedRequest()
        expected = [proofs.base64_digest(key.encode(), request.body) for key in account.secrets("webhookSecret")]
        proofs.require_match([request.headers.get("X-WC-Webhook-Signature", "")], expected)
        topic = request.headers.get("X-WC-Webhook-Topic", "unreadable")
        # What the shop calls a delivery's id is the same for all of one second: the bytes tell deliveries apart.
        raw = _stamped(topic, request)
        return ProvedRequest((GatewayDelivery(f"{topic}:{proofs.fingerprint(raw)}", topic, raw),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate an order as it was when it was sent, or as it was listed."""
        order = events.kept(delivery.raw)
        if delivery.type == woocommerce_facts.LISTED_REFUND:
            return woocommerce_facts.refunds(order)
        if delivery.type == woocommerce_facts.LISTED_CHANGE:
            return woocommerce_facts.of_change(order)
        if delivery.type == woocommerce_facts.DELETED:
            return woocommerce_facts.of_deleted(order)
        if delivery.type not in _TOPICS:
            return (IgnoredFact("unknown_type"),)
        return woocommerce_facts.of_order(order)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return it as it is: the order says everything."""
        return origin

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Have the webhooks active, then read the orders that changed: those paid since then, totals and refunds."""
        _wake(account)
        params: dict[str, str | int] = {
            "modified_after": since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
            "dates_are_gmt": "true",
            "orderby": "id",
            "order": "asc",
            "per_page": _PAGE,
            "_fields": _READ,
        }
        page, is_last = 1, False
        while not is_last:
            orders = ask(account, "GET", "/orders", {**params, "page": page}).json
            if not isinstance(orders, list):
                raise GatewayUnreachable("the answer is not a list of orders")
            if found := [item for order in orders for item in _listed(order, since)]:
                yield found
            page, is_last = page + 1, len(orders) < _PAGE


GATEWAY = WooCommerce()


def _store(account: GatewayAccount) -> str:
    """Return the shop's address as it is called: with a scheme, without a query."""
    found = _STORE.fullmatch(account.credentials.get("storeUrl", "").strip())
    address = (found["scheme"] or "https://").lower() + found["place"].rstrip("/") if found else ""
    if not urls.is_http(address):
        raise CredentialsRefused("the store's address is not such as https://shop.example.com")
    return address


def ask(
    account: GatewayAccount,
    method: str,
    path: str,
    params: Mapping[str, str | int] | None = None,
    json: object = None,
) -> GatewayAnswer:
    """Ask the shop. One without permalinks has another address for it, one behind some servers wants the keys there.

    Raises as `GatewayWire.ask`.
    """
    key, secret = (account.credentials.get(name, "") for name in ("consumerKey", "consumerSecret"))
    try:
        wire = GatewayWire("woocommerce", _store(account), basic(key, secret), is_typed=True)
        try:
            return _routed(wire, method, path, params or {}, json)
        except CredentialsRefused as error:
            if not error.code.startswith(_NOBODY):
                raise
        bare = GatewayWire("woocommerce", _store(account), {}, is_typed=True)
        keys = {"consumer_key": key, "consumer_secret": secret}
        return _routed(bare, method, path, {**(params or {}), **keys}, json)
    except ValueError as error:
        raise CredentialsRefused("the store's address is none") from error


def _routed(wire: GatewayWire, method: str, path: str, params: Mapping[str, str | int], json: object) -> GatewayAnswer:
    try:
        return wire.ask(method, f"/wp-json/wc/v3{path}", params=params, json=json)
    except GatewayRejected as error:
        if error.status != 404:
            raise
    return wire.ask(method, "/", params={"rest_route": f"/wc/v3{path}", **params}, json=json)


def _hooks(account: GatewayAccount) -> list[str]:
    return account.made.get("webhooks", "").split()


def _unhook(account: GatewayAccount, hooks: Sequence[str]) -> None:
    for hook in hooks:
        with suppress(GatewayRejected):
            ask(account, "DELETE", f"/webhooks/{hook}", {"force": "true"})


def _wake(account: GatewayAccount) -> None:
    """Have webhooks active again that the shop gave up; one that somebody deleted is not made anew."""
    for hook in _hooks(account):
        with suppress(GatewayRejected):
            if shapes.text(ask(account, "GET", f"/webhooks/{hook}").json, "status") != "active":
                ask(account, "PUT", f"/webhooks/{hook}", json={"status": "active"})


def _stamped(topic: str, request: Inbound) -> bytes:
    """Return a body with when it came in, where the order does not say when it was deleted or restored."""
    if topic not in (woocommerce_facts.DELETED, "order.restored"):
        return request.body
    order = events.glance(request.body)
    if not isinstance(order, dict):
        return request.body
    return dumped({**order, woocommerce_facts.RECEIVED_AT: request.received_at.isoformat()})


def _listed(order: Any, since: datetime) -> Iterator[GatewayDelivery]:
    order_id = shapes.needed(order, "id")
    if not shapes.at(order, "date_paid_gmt"):
        return
    if shapes.is_since(since, lambda: woocommerce_facts.paid_at(order) or since):
        yield GatewayDelivery(f"reconcile:{order_id}", "order.updated", dumped(order))
    # One that changed after it was paid may be known with another total or status.
    if changed := woocommerce_facts.change_of(order):
        yield GatewayDelivery(f"reconcile:{order_id}:{changed}", woocommerce_facts.LISTED_CHANGE, dumped(order))
    for refund in shapes.items(order, "refunds"):
        one = dumped({**order, "refunds": [refund]})
        yield GatewayDelivery(f"reconcile:{shapes.needed(refund, 'id')}", woocommerce_facts.LISTED_REFUND, one)
