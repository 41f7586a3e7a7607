"""shopify: orders that are paid, refunds of them, disputes of Shopify Payments.

A sale's id is its order's. Refunds are counted by the order's running total in the shop's currency, read at the shop.
"""

import hmac
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

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
    NotProved,
    ProvedRequest,
    Setup,
    Subscribed,
)
from adapters.gateways.storefront import shopify_api, shopify_facts, shopify_totals
from adapters.gateways.wire import serialize
from domain.gateways.facts import DisputeState, Facts, IgnoredFact

_UNINSTALLED = "app/uninstalled"
_SIGNATURE = "X-Shopify-Hmac-Sha256"
_NEEDED = ("ORDERS_PAID", "ORDERS_UPDATED", "ORDERS_DELETE", "REFUNDS_CREATE", "APP_UNINSTALLED")
_DISPUTES = ("DISPUTES_CREATE", "DISPUTES_UPDATE")
_NO_DISPUTES = (
    "Disputes are not reported yet: give the app the scope read_shopify_payments_disputes, install it again, and"
    " reconnect. Shops without Shopify Payments have no disputes to report."
)

_CHECK = """query Check { shop { myshopifyDomain currencyCode } currentAppInstallation { accessScopes { handle } } }"""
_HOOKS = """query Hooks { webhookSubscriptions(first: 100) { nodes { id topic uri } } }"""
_HOOK = """mutation Hook($topic: WebhookSubscriptionTopic!, $uri: String!) {
  webhookSubscriptionCreate(topic: $topic, webhookSubscription: {uri: $uri, format: JSON}) {
    webhookSubscription { id } userErrors { field message }
  }
}"""
_UNHOOK = """mutation Unhook($id: ID!) {
  webhookSubscriptionDelete(id: $id) { deletedWebhookSubscriptionId userErrors { message } }
}"""


class Shopify(ManyWebhooksAdapter):
    name = "shopify"
    label = "Shopify"
    kind = "storefront"
    fields = (
        CredentialField("shopDomain", "Shop domain", "Settings, Domains: your-shop.myshopify.com", secret=False),
        CredentialField("clientId", "Client ID", "Dev Dashboard, your app, Settings", secret=False),
        CredentialField("clientSecret", "Client secret", "Dev Dashboard, your app, Settings"),
        CredentialField(
            "accessToken", "Access token", "Only for an app that has a permanent one: shpat_…", required=False
        ),
    )
    capabilities = Capabilities(
        coupons=True,
        disputes=tuple(DisputeState),
        reports_removal=True,
        webhooks_belong_to="clientId",
        lacks=(
            "Trials of subscription apps are not reported.",
            "Orders older than 60 days are read only with the scope read_all_orders.",
            "Disputes are reported for Shopify Payments only.",
        ),
    )
    proof = proofs.BodyDigest(_SIGNATURE, "clientSecret", proofs.base64_digest)

    def check(self, account: GatewayAccount) -> Known:
        """Request a token, and read the shop and the rights of the app."""
        shopify_api.prove(account)
        data = shopify_api.graphql(account, _CHECK)
        scopes = {
            shapes.text(scope, "handle") for scope in shapes.items(data, "currentAppInstallation", "accessScopes")
        }
        if not scopes & {"read_orders", "write_orders"}:
            raise CredentialsRefused("the app lacks the scope read_orders")
        domain = shapes.require(data, "shop", "myshopifyDomain")
        return Known(domain, identity=(domain,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Create a webhook for each topic; an existing one for this address is reused."""
        setup = Setup()

        def make_missing() -> Iterator[str]:
            nonlocal setup
            yield from (hook for hook in existing.values() if hook)
            yield from (_hook(account, topic, address) for topic in _NEEDED if topic not in existing)
            try:
                yield from (_hook(account, topic, address) for topic in _DISPUTES if topic not in existing)
            except GatewayRejected:
                setup = Setup((_NO_DISPUTES,))

        hooks = shapes.items(shopify_api.graphql(account, _HOOKS), "webhookSubscriptions", "nodes")
        existing = {shapes.text(hook, "topic"): shapes.text(hook, "id") for hook in hooks if hook.get("uri") == address}
        webhooks = self.make_webhooks(account, make_missing())
        return Subscribed({self.webhooks_key: " ".join(webhooks)}, setup)

    def delete_webhooks(self, account: GatewayAccount, webhooks: Sequence[str]) -> None:
        for webhook in webhooks:
            with suppress(GatewayRejected):
                shopify_api.graphql(account, _UNHOOK, {"id": webhook})

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check the signature by the app's client secret, and that it is this shop's."""
        self.verify(account, request)
        sender = request.headers.get("X-Shopify-Shop-Domain")
        if sender is not None and sender.lower() not in map(shopify_api.shop, account.secrets("shopDomain")):
            raise NotProved
        topic = request.headers.get("X-Shopify-Topic", "unreadable")
        if topic == _UNINSTALLED and account.has_changed("clientId") and not _is_of_current_app(account, request):
            return ProvedRequest(())
        webhook_id, raw = request.headers.get("X-Shopify-Webhook-Id"), self._stamp(topic, request)
        key = f"{topic}:{webhook_id}" if webhook_id else f"{topic}:{proofs.fingerprint(raw)}"
        return ProvedRequest((GatewayDelivery(key, topic, raw, webhook_id),))

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        read = shopify_facts.READERS.get(kind)
        return read(account, event) if read else IgnoredFact("unknown_type")

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the orders that changed since then, with their refunds: an older order may have been paid since."""

        def fetch(variables: Mapping[str, object]) -> Any:
            return shapes.get(shopify_api.graphql(account, shopify_facts.ORDERS, variables), "orders")

        def find_next_query(page: Any) -> Mapping[str, object] | None:
            has_more = shapes.get(page, "pageInfo", "hasNextPage") is True
            return {**first, "after": shapes.require(page, "pageInfo", "endCursor")} if has_more else None

        statuses = (*shopify_totals.PAID, *shopify_totals.NO_MONEY, shopify_totals.PAID_IN_PART)
        paid = " OR ".join(f"financial_status:{status}" for status in statuses)
        first: Mapping[str, object] = {"query": f"updated_at:>='{shapes.utc(since)}' AND ({paid})", "after": None}
        for page in paging.follow(fetch, first, find_next_query):
            if deliveries := [delivery for node in shapes.items(page, "nodes") for delivery in _to_deliveries(node)]:
                yield deliveries

    def _stamp(self, topic: str, request: Inbound) -> bytes:
        """Return the body; one of a deleted order gets the time of sending, because it lacks the time of deletion."""
        order = self.glance(request.body) if topic == shopify_totals.DELETED else None
        if not isinstance(order, dict):
            return request.body
        at = request.headers.get("X-Shopify-Triggered-At") or request.received_at.isoformat()
        return serialize({**order, shopify_totals.DELETED_AT: at})


GATEWAY = Shopify()


def _is_of_current_app(account: GatewayAccount, request: Inbound) -> bool:
    digest = proofs.base64_digest(account.credentials.get("clientSecret", "").encode(), request.body)
    return hmac.compare_digest(digest.encode(), request.headers.get(_SIGNATURE, "").encode())


def _hook(account: GatewayAccount, topic: str, address: str) -> str:
    data = shopify_api.graphql(account, _HOOK, {"topic": topic, "uri": address})
    result = shapes.get(data, "webhookSubscriptionCreate")
    if errors := shapes.items(result, "userErrors"):
        raise GatewayRejected(422, f"{topic}: {shapes.text(errors[0], 'message') or 'no reason given'}")
    hook = shapes.identity(result, "webhookSubscription", "id")
    if hook is None:
        raise GatewayUnreachable(f"no webhook came for {topic}")
    return hook


def _to_deliveries(node: Any) -> Iterator[GatewayDelivery]:
    order = shopify_facts.of_node(node)
    order_id, back = shapes.require(order, "id"), shopify_facts.went_back(node)
    status = (shapes.text(order, "financial_status") or "").lower()
    if status == shopify_totals.PAID_IN_PART and shapes.get(order, "cancelled_at") is None:
        return
    if status in shopify_totals.PAID:
        yield make_listed(order_id, "orders/paid", order)
    changed = shapes.later_change(
        lambda: shapes.moment(order, "created_at"),
        lambda: shopify_totals.changed_at(order),
        anyhow=status in shopify_totals.NO_MONEY,
    )
    if changed:  # its stored total may be another one, or it may be cancelled
        yield make_listed(f"{order_id}:{changed}", "orders/updated", order)
    if back is not None:
        refund = {**back, "order_id": order_id}
        yield make_listed(f"{order_id}:{back['amount']}", shopify_facts.LISTED_REFUND, refund)
