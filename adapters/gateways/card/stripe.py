"""stripe: invoices of subscriptions, one-off payments of its checkout, charges that are refunded or disputed."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from adapters import clock
from adapters.gateways import paging, proofs, shapes
from adapters.gateways.adapter import OneWebhookAdapter, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    Known,
)
from adapters.gateways.card import stripe_facts
from adapters.gateways.wire import GatewayApi, Params, bearer
from domain.gateways.facts import Carrier, DisputeState, Facts, IgnoredFact, UnreadableEvent

_VERSION = "2025-09-30.clover"
_EVENTS_KEPT = timedelta(days=29)
_PAGE = 100
# A restricted key may lack the permission to read its account, which not every account can give it; the refusal names
# the account.
_NAMED_ACCOUNT = re.compile(
    r"does not have the required permissions for this endpoint on account '(acct_[A-Za-z0-9]+)'"
)


class Stripe(OneWebhookAdapter):
    name = "stripe"
    label = "Stripe"
    kind = "card"
    fields = (
        CredentialField("apiKey", "Secret or restricted key", "Developers, API keys: sk_… or rk_…"),
        CredentialField(
            "webhookSecret", "Signing secret", "Only for an endpoint that you made: whsec_…", required=False
        ),
    )
    capabilities = Capabilities(coupons=True, trials=True, disputes=tuple(DisputeState), reports_removal=True)
    readers = stripe_facts.READERS
    object_path = ("data", "object")
    time_path = ("created",)
    webhooks_path = "/v1/webhook_endpoints"
    webhook_key = "endpoint"
    webhook_secret = ("secret",)
    by_hand = (
        "Open Developers, Webhooks, and add an endpoint for the address below with the events below.",
        "Copy its signing secret (whsec_…) into this connection as webhookSecret.",
    )
    own_by_hand = ("Let the endpoint whose signing secret you gave send the events below to the address below.",)
    sent_events = stripe_facts.READERS
    proof = proofs.StampedHeader("Stripe-Signature", between=",", time="t", digest="v1", joint=b".")
    customer_path = "/v1/customers/{customer}"
    subscription_path = "/v1/subscriptions/{subscription}"

    def api(self, account: GatewayAccount) -> GatewayApi:
        headers = {**bearer(account.credentials.get("apiKey", "")), "Stripe-Version": _VERSION}
        return GatewayApi("stripe", "https://api.stripe.com", headers)

    def check(self, account: GatewayAccount) -> Known:
        account_id = _find_account_id(self.api(account))
        modes = {"sk_live": True, "rk_live": True, "sk_test": False, "rk_test": False}
        return Known(account_id, modes.get(account.credentials.get("apiKey", "")[:7]), (account_id,))

    def make_webhook(self, account: GatewayAccount, address: str) -> Any:
        form = {"url": address, "enabled_events[]": list(stripe_facts.READERS), "api_version": _VERSION}
        return self.api(account).request("POST", self.webhooks_path, form=form).json

    def read_event(self, raw: bytes) -> Any:
        event = super().read_event(raw)
        if shapes.get(event, "data", "object", "id") is None:
            raise UnreadableEvent("data.object.id is missing")
        return event

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        if stripe_facts.is_update_without_metadata(event):
            return IgnoredFact("metadata_unchanged")
        return super().translate(account, event, kind)

    def read_carriers(self, holder: Any) -> tuple[Carrier, ...]:
        return stripe_facts.carriers(shapes.table(holder, "metadata"))

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the events since then; stripe keeps them for thirty days, so older payments and refunds are listed."""
        api, start = self.api(account), int(since.timestamp())
        for path, params in _lists(start, int(clock.now().timestamp())):
            for items in read_list(api, path, params):
                yield [_to_delivery(item) for item in items]


GATEWAY = Stripe()


def _find_account_id(api: GatewayApi) -> str:
    """Return the id of the key's account. Raises CredentialsRefused for a key that is not valid."""
    try:
        return shapes.require(api.get("/v1/account"), "id")
    except CredentialsRefused as refused:
        account = _NAMED_ACCOUNT.search(str(refused))
        if account is None:
            raise
        return account[1]


def _lists(since: int, now: int) -> Iterator[tuple[str, Params]]:
    """Yield the lists that together hold all payments and refunds since then."""
    kept_since = max(since, now - int(_EVENTS_KEPT.total_seconds()))
    if since < kept_since:
        yield "/v1/invoices", {"status": "paid", "created[gte]": since, "created[lt]": kept_since}
        yield "/v1/refunds", {"created[gte]": since, "created[lt]": kept_since}
    yield "/v1/events", {"types[]": list(stripe_facts.READERS), "created[gte]": kept_since}


def read_list(api: GatewayApi, path: str, params: Params) -> Iterator[list[Any]]:
    """Yield the pages of a list at stripe, without empty ones. Raises as `GatewayApi.get`."""

    def fetch(after: Params) -> Any:
        return api.get(path, {**params, **after, "limit": _PAGE})

    def find_next_query(page: Any) -> Params | None:
        items = shapes.items(page, "data")
        return (
            {"starting_after": shapes.require(items[-1], "id")}
            if items and shapes.get(page, "has_more") is True
            else None
        )

    first: Params = {}
    return (items for page in paging.follow(fetch, first, find_next_query) if (items := shapes.items(page, "data")))


def _to_delivery(item: Any) -> GatewayDelivery:
    if shapes.text(item, "object") != "event":
        kind = "invoice.paid" if shapes.text(item, "object") == "invoice" else "refund.updated"
        item = {"type": kind, "created": shapes.get(item, "created"), "data": {"object": item}}
    kind, entity = shapes.text(item, "type") or "", shapes.get(item, "data", "object")
    names = [shapes.text(entity, "payment_intent") if kind.startswith("checkout.") else None, shapes.text(entity, "id")]
    # A charge whose refunds grow, and a dispute whose status changes, are reported several times under one id.
    version_parts = [
        shapes.text(entity, "amount_refunded"),
        shapes.text(entity, "status") if ".dispute." in kind else None,
    ]
    # So does every change of a subscription and a customer.
    version_parts.append(shapes.text(item, "id") if kind in stripe_facts.UPDATES else None)
    external_id = ":".join([next(name for name in names if name), *(part for part in version_parts if part)])
    return make_listed(external_id, kind, item, shapes.text(item, "id"))
