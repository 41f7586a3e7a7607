"""woocommerce: orders of a shop on the brand's own server, sent in full whenever they change.

A sale's id is its order's. The shop never repeats a webhook, and disables it after five failures in a row: every
reconciliation enables it again.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from adapters.gateways import paging, proofs, shapes
from adapters.gateways.adapter import ManyWebhooksAdapter, make_listed
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
from adapters.gateways.wire import GatewayAnswer, GatewayApi, basic, serialize
from domain import urls
from domain.gateways.facts import Facts, IgnoredFact

_TOPICS = (*woocommerce_facts.CHANGED, woocommerce_facts.DELETED)
_PAGE = 50
# An order with all its lines is large, and an answer that is too large is an error.
_READ = (
    "id,status,currency,total,total_tax,shipping_total,customer_id,billing,date_paid_gmt,date_modified_gmt,"
    "meta_data,coupon_lines,refunds"
)
_PING = re.compile(rb"webhook_id=[0-9]{1,20}")
_STORE = re.compile(r"(?P<scheme>https?://)?(?P<place>[^/?#:\s]+(?::[0-9]+)?(?:/[^?#\s]*)?)(?:[?#]\S*)?", re.IGNORECASE)
# The code of a refusal for lack of any credentials: the shop's server removed the header on its way.
_NO_CREDENTIALS = "woocommerce_rest_cannot_"
_TOPIC_NAMES = "Order created, Order updated, Order restored, Order deleted"


class WooCommerce(ManyWebhooksAdapter):
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
            "Chargebacks are not reported: refund the order when one is lost.",
            "Trials are not reported as such.",
            "Orders have no test flag.",
            "Before WooCommerce 3.6 partial refunds are found by reconciliation only.",
        ),
    )
    proof = proofs.BodyDigest("X-WC-Webhook-Signature", digest=proofs.base64_digest)
    by_hand = (
        "Open WooCommerce, Settings, Advanced, Webhooks, and add an active webhook for each of the topics below, with"
        " the address and the secret below.",
        "Or give the key the permission Read/Write and connect again: the webhooks are then made for you.",
    )

    def check(self, account: GatewayAccount) -> Known:
        """Read one order of the shop, or an empty list."""
        _list_orders(account, {"per_page": 1})
        store = urlsplit(_store(account))
        return Known(store.netloc, identity=(store.netloc.lower() + store.path,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Create the webhooks with our secret. The brand creates them if the key may only read."""

        def make_hook(topic: str) -> str:
            hook = {"name": "Finderfee", "topic": topic, "delivery_url": address, "secret": secret, "status": "active"}
            return shapes.require(request(account, "POST", "/webhooks", json=hook).json, "id")

        secret = secrets.token_urlsafe(32)
        try:
            webhooks = self.make_webhooks(account, map(make_hook, _TOPICS))
        except (CredentialsRefused, GatewayRejected):
            setup = self.setup_by_hand(address, secret=secret, topics=_TOPIC_NAMES)
            return Subscribed({"webhookSecret": secret}, setup)
        return Subscribed({self.webhooks_key: " ".join(webhooks), "webhookSecret": secret})

    def delete_webhooks(self, account: GatewayAccount, webhooks: Sequence[str]) -> None:
        for webhook in webhooks:
            with suppress(GatewayRejected):
                request(account, "DELETE", f"/webhooks/{webhook}", {"force": "true"})

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check the signature. The number that a shop sends, unsigned, when a webhook is saved is answered with ok."""
        return ProvedRequest() if _PING.fullmatch(request.body) else super().prove(account, request)

    def read_delivery(self, request: Inbound) -> GatewayDelivery:
        topic = request.headers.get("X-WC-Webhook-Topic", "unreadable")
        # The shop's id of a delivery is the same for all of one second: the bytes tell deliveries apart.
        raw = self._stamp(topic, request)
        return GatewayDelivery(f"{topic}:{proofs.fingerprint(raw)}", topic, raw)

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        """Translate an order as it was when it was sent, or as it was listed."""
        read = woocommerce_facts.READERS.get(kind)
        return read(event) if read else IgnoredFact("unknown_type")

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Reactivate the webhooks, then read the orders that changed: those paid since then, totals and refunds."""
        _reactivate(account, self.webhooks(account))
        params: dict[str, str | int] = {
            "modified_after": since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
            "dates_are_gmt": "true",
            "orderby": "id",
            "order": "asc",
            "per_page": _PAGE,
            "_fields": _READ,
        }
        for orders in paging.read_by_number(lambda number: _list_orders(account, {**params, "page": number}), _PAGE):
            if deliveries := [delivery for order in orders for delivery in _to_deliveries(order, since)]:
                yield deliveries

    def _stamp(self, topic: str, request: Inbound) -> bytes:
        """Return a body with when it came in, where the order lacks the time at which it was deleted or restored."""
        order = self.glance(request.body) if topic in (woocommerce_facts.DELETED, "order.restored") else None
        if not isinstance(order, dict):
            return request.body
        return serialize({**order, woocommerce_facts.RECEIVED_AT: request.received_at.isoformat()})


GATEWAY = WooCommerce()


def _store(account: GatewayAccount) -> str:
    """Return the shop's address as it is called: with a scheme, without a query."""
    match = _STORE.fullmatch(account.credentials.get("storeUrl", "").strip())
    address = (match["scheme"] or "https://").lower() + match["place"].rstrip("/") if match else ""
    if not urls.is_http(address):
        raise CredentialsRefused("the store's address is not such as https://shop.example.com")
    return address


def request(
    account: GatewayAccount,
    method: str,
    path: str,
    params: Mapping[str, str | int] | None = None,
    json: object = None,
) -> GatewayAnswer:
    """Call the shop. One without permalinks has another address for it; behind some servers the keys go into it.

    Raises as `GatewayApi.request`.
    """
    key, secret = (account.credentials.get(name, "") for name in ("consumerKey", "consumerSecret"))
    try:
        api = GatewayApi("woocommerce", _store(account), basic(key, secret), is_brands_host=True)
        try:
            return _call(api, method, path, params or {}, json)
        except CredentialsRefused as error:
            if not error.code.startswith(_NO_CREDENTIALS):
                raise
        bare = GatewayApi("woocommerce", _store(account), {}, is_brands_host=True)
        keys = {"consumer_key": key, "consumer_secret": secret}
        return _call(bare, method, path, {**(params or {}), **keys}, json)
    except ValueError as error:
        raise CredentialsRefused("the store's address is invalid") from error


def _call(api: GatewayApi, method: str, path: str, params: Mapping[str, str | int], json: object) -> GatewayAnswer:
    try:
        return api.request(method, f"/wp-json/wc/v3{path}", params=params, json=json)
    except GatewayRejected as error:
        if error.status != 404:
            raise
    return api.request(method, "/", params={"rest_route": f"/wc/v3{path}", **params}, json=json)


def _list_orders(account: GatewayAccount, params: Mapping[str, str | int]) -> list[Any]:
    orders = request(account, "GET", "/orders", params).json
    if not isinstance(orders, list):
        raise GatewayUnreachable("the answer is not a list of orders")
    return orders


def _reactivate(account: GatewayAccount, webhooks: Sequence[str]) -> None:
    """Reactivate webhooks that the shop gave up; one that was deleted there is not made again."""
    for webhook in webhooks:
        with suppress(GatewayRejected):
            if shapes.text(request(account, "GET", f"/webhooks/{webhook}").json, "status") != "active":
                request(account, "PUT", f"/webhooks/{webhook}", json={"status": "active"})


def _to_deliveries(order: Any, since: datetime) -> Iterator[GatewayDelivery]:
    order_id = shapes.require(order, "id")
    if not shapes.get(order, "date_paid_gmt"):
        return
    if shapes.is_since(since, lambda: woocommerce_facts.paid_at(order) or since):
        yield make_listed(order_id, "order.updated", order)
    # An order that changed after its payment may be stored with another total or status.
    if changed := woocommerce_facts.change_of(order):
        yield make_listed(f"{order_id}:{changed}", woocommerce_facts.LISTED_CHANGE, order)
    for refund in shapes.items(order, "refunds"):
        with_refund = {**order, "refunds": [refund]}
        yield make_listed(shapes.require(refund, "id"), woocommerce_facts.LISTED_REFUND, with_refund)
