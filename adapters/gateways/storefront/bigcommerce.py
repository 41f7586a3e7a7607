"""bigcommerce: its callbacks have only ids; orders, refunds and their parts are read at the store.

A sale's id is its order's. A callback is proved by its signature, and by our token that comes with every one.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from adapters.gateways import paging, proofs, shapes
from adapters.gateways.adapter import ApiAdapter, ManyWebhooksAdapter, make_delivery, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    Inbound,
    Known,
    NotProved,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.storefront import bigcommerce_facts
from adapters.gateways.wire import GatewayApi
from domain.gateways.facts import DisputeState, Facts, IgnoredFact

_STATUS, _REFUND = "store/order/statusUpdated", "store/order/refund/created"
_NEEDED = ("store/order/created", _STATUS, "store/order/updated", "store/order/archived", _REFUND)
_UNINSTALLED = "store/app/uninstalled"  # only apps have it
_TOKEN_HEADER = "X-Hook-Token"  # noqa: S105  # a name, no secret
_PAGE = 100
_HASH = re.compile(r"[A-Za-z0-9]{1,64}")


class BigCommerce(ManyWebhooksAdapter, ApiAdapter):
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
        reports_removal=True,
        webhooks_belong_to="clientId",
        lacks=(
            "Disputes are reported for PayPal only, without their result: an order that leaves the status Disputed is"
            " released.",
            "Subscriptions and trials belong to apps, whose renewals are ordinary orders.",
        ),
    )

    def api(self, account: GatewayAccount) -> GatewayApi:
        store = account.credentials.get("storeHash", "").strip()
        if not _HASH.fullmatch(store):
            raise CredentialsRefused("the store hash is letters and digits, such as abc123")
        headers = {"X-Auth-Token": account.credentials.get("accessToken", "")}
        return GatewayApi("bigcommerce", f"https://api.bigcommerce.com/stores/{store}", headers)

    def check(self, account: GatewayAccount) -> Known:
        """Read the store's name. Its token never changes: a rotation is another API account of the store."""
        store = self.api(account).get("/v2/store")
        store_hash = account.credentials.get("storeHash", "").strip()
        return Known(shapes.text(store, "name") or store_hash, identity=(store_hash.lower(),))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Create a webhook for each scope, with our token, which every callback contains."""

        def make_each() -> Iterator[str]:
            yield from (_hook(api, {"scope": scope, **hook}) for scope in _NEEDED)
            with suppress(GatewayRejected):
                yield _hook(api, {"scope": _UNINSTALLED, **hook})

        api, token = self.api(account), secrets.token_urlsafe(32)
        hook = {"destination": address, "is_active": True, "headers": {_TOKEN_HEADER: token}}
        webhooks = self.make_webhooks(account, make_each())
        return Subscribed({self.webhooks_key: " ".join(webhooks), "hookToken": token})

    def delete_webhooks(self, account: GatewayAccount, webhooks: Sequence[str]) -> None:
        api = self.api(account)
        for webhook in webhooks:
            api.delete(f"/v3/hooks/{webhook}")

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check our own token, and the Standard Webhooks signature, five minutes either way.

        A callback of the older kind has no signature: then our token alone is the proof.
        """
        tokens, token = account.secrets("hookToken"), request.headers.get(_TOKEN_HEADER, "")
        if tokens:
            proofs.require_match([token], tokens)
        webhook_id, signature = request.headers.get("webhook-id"), request.headers.get("webhook-signature")
        if webhook_id is not None or signature is not None:
            at = request.headers.get("webhook-timestamp", "")
            proofs.require_recent(at, request.received_at.timestamp())
            signed = f"{webhook_id or ''}.{at}.".encode("utf-8", "surrogateescape") + request.body
            expected = [proofs.base64_digest(key.encode(), signed) for key in account.secrets("clientSecret")]
            signatures = [part.partition(",") for part in (signature or "").split()]
            proofs.require_match((digest for version, _, digest in signatures if version == "v1"), expected)
        elif not tokens:
            raise NotProved
        event = self.glance(request.body)
        delivery_id = webhook_id or shapes.text(event, "hash")
        delivery = make_delivery(request.body, delivery_id, shapes.text(event, "scope"))
        if delivery.type == _UNINSTALLED and account.has_changed("clientId") and token != account.made.get("hookToken"):
            return ProvedRequest(())  # a former API account left the store
        return ProvedRequest((delivery,))

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        """Read the object of a callback at the store, as it is now."""
        read = bigcommerce_facts.READERS.get(shapes.require(event, "scope"))
        return read(self.api(account), event) if read else IgnoredFact("unknown_type")

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Reactivate the webhooks, then read the orders that changed since then, and the refunds."""
        api, start = self.api(account), shapes.utc(since)
        _reactivate(api, self.webhooks(account))
        for page in _pages(api, "/v2/orders", {"min_date_modified": start, "sort": "id:asc"}):
            if deliveries := [delivery for order in page for delivery in _listed_order(order)]:
                yield deliveries
        for page in _pages(api, "/v3/orders/payment_actions/refunds", {"created:min": start}):
            yield [_listed_refund(refund) for refund in page]


GATEWAY = BigCommerce()


def _hook(api: GatewayApi, hook: Mapping[str, object]) -> str:
    return shapes.require(api.request("POST", "/v3/hooks", json=hook).json, "data", "id")


def _reactivate(api: GatewayApi, webhooks: Sequence[str]) -> None:
    """Reactivate webhooks that the store gave up; one that was deleted there is not made again."""
    for webhook in webhooks:
        view = api.find(f"/v3/hooks/{webhook}")
        if shapes.get(view, "data", "is_active") is False:
            with suppress(GatewayRejected):
                api.request("PUT", f"/v3/hooks/{webhook}", json={"is_active": True})


def _pages(api: GatewayApi, path: str, params: Mapping[str, str]) -> Iterator[list[Any]]:
    """Yield the pages of a list; an empty one has no body, in the newer interface it has no items."""

    def fetch(number: int) -> list[Any]:
        page = api.get(path, {**params, "limit": _PAGE, "page": number})
        return shapes.items(page, "data") if path.startswith("/v3/") else shapes.items(page)

    return paging.read_by_number(fetch, _PAGE)


def _listed_order(order: Any) -> Iterator[GatewayDelivery]:
    order_id, has_no_money = shapes.require(order, "id"), bigcommerce_facts.has_no_money(order)
    if bigcommerce_facts.is_paid(order):
        raw = {"scope": _STATUS, "data": {"type": "order", "id": order_id}}
        yield make_listed(order_id, _STATUS, raw)
    elif not has_no_money:
        return
    changed = shapes.later_change(
        lambda: bigcommerce_facts.placed_at(order),
        lambda: bigcommerce_facts.changed_at(order),
        anyhow=has_no_money,
    )
    if changed:  # its stored total may be another one, or it may be cancelled
        kind = bigcommerce_facts.LISTED_CHANGE
        yield make_listed(f"{order_id}:{changed}", kind, {"scope": kind, "order": order})


def _listed_refund(refund: Any) -> GatewayDelivery:
    order_id, refund_id = shapes.require(refund, "order_id"), shapes.require(refund, "id")
    raw = {"scope": _REFUND, "data": {"type": "order", "id": order_id, "refund": {"refund_id": refund_id}}}
    return make_listed(bigcommerce_facts.refund_name(refund_id), _REFUND, raw)
