"""chargebee: payments, refunds and chargebacks of a site's invoices.

Nothing is signed: anyone who knows the user and the password of the webhook can send anything. So only the id of an
event is used: the event itself is read from the API.
"""

import base64
import re
import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from adapters.gateways import paging, proofs, shapes
from adapters.gateways.adapter import ApiAdapter, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    Inbound,
    Known,
    NotProved,
    Subscribed,
)
from adapters.gateways.billing import chargebee_facts
from adapters.gateways.wire import GatewayApi, Params, basic
from domain.gateways.facts import BuyerOrigin, DisputeState, Facts, IgnoredFact, UnreadableEvent

_USER, _PASSWORD = "webhookUser", "webhookPassword"
_SITE = re.compile(r"(?:https://)?([a-z0-9][a-z0-9-]{0,62})(?:\.chargebee\.com)?/?", re.IGNORECASE)
_PAGE = 100


class Chargebee(ApiAdapter):
    name = "chargebee"
    label = "Chargebee"
    kind = "subscription"
    fields = (
        CredentialField("site", "Site", "The first part of your site's address: acme of acme.chargebee.com", False),
        CredentialField("apiKey", "API key", "Settings, Configure Chargebee, API keys: one that may read everything"),
        CredentialField(_USER, "Webhook user", "For its basic authentication; if empty, we make one", False, False),
        CredentialField(_PASSWORD, "Webhook password", "Its password; if empty, we make one", required=False),
    )
    capabilities = Capabilities(coupons=True, trials=True, own_ids=True, disputes=(DisputeState.Lost,))
    type_path = ("event_type",)
    by_hand = (
        "Open Settings, Configure Chargebee, Webhooks, and add a webhook for the address below, API version 2.",
        "Turn on its basic authentication, with the user and the password of this connection.",
        "Let it send the events below (or all of them).",
    )
    sent_events = chargebee_facts.READERS

    def api(self, account: GatewayAccount) -> GatewayApi:
        address = f"https://{_site(account)}.chargebee.com/api/v2"
        return GatewayApi("chargebee", address, basic(account.credentials.get("apiKey", "")), is_brands_host=True)

    def check(self, account: GatewayAccount) -> Known:
        """Read an event of the site."""
        api, site = self.api(account), _site(account)
        api.get("/events", {"limit": 1})
        key = account.credentials.get("apiKey", "")
        is_live = key.startswith("live_") if key.startswith(("live_", "test_")) else None
        return Known(site, False if site.endswith("-test") else is_live, (site,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Return how to make the webhook, with a user and a password where the brand did not type them."""
        credentials = {name: secrets.token_hex(24) for name in (_USER, _PASSWORD) if not account.credentials.get(name)}
        return Subscribed(credentials, self.setup_by_hand(address, **credentials))

    def verify(self, account: GatewayAccount, request: Inbound) -> None:
        """Check that user and password are those of one valid set of credentials."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            pair = base64.b64decode(token.strip(), validate=True).decode()
        except ValueError as error:
            raise NotProved from error
        pairs = ((credentials.get(_USER), credentials.get(_PASSWORD)) for credentials in account.sets)
        expected = [f"{user}:{password}" for user, password in pairs if user and password]
        proofs.require_match([pair] if scheme.lower() == "basic" else [], expected)

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        """Read the event from the API and translate that; an event that the API does not know is ignored."""
        if shapes.require(event, "event_type") not in chargebee_facts.READERS:
            return IgnoredFact("unknown_type")
        event_id, api = shapes.require(event, "id"), self.api(account)
        confirmed = shapes.get(api.find(f"/events/{shapes.segment(event_id)}"), "event")
        if confirmed is None:
            return IgnoredFact("unknown_at_gateway")
        if shapes.text(confirmed, "id") != event_id:
            raise UnreadableEvent("the event that was read is not the one in the notification")
        read = chargebee_facts.READERS.get(shapes.require(confirmed, "event_type"))
        if read is None:
            return IgnoredFact("unknown_type")
        return read(api, shapes.get(confirmed, "content"), shapes.moment(confirmed, "occurred_at"))

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the subscription with its customer, or the customer alone."""
        api, holder = self.api(account), None
        if origin.subscription_id:
            holder = api.find(f"/subscriptions/{shapes.segment(origin.subscription_id)}")
        if holder is None and origin.customer_id:
            holder = api.find(f"/customers/{shapes.segment(origin.customer_id)}")
        more = chargebee_facts.origin_of(holder)
        return origin.with_more(email=more.email, name=more.name, carriers=more.carriers)

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the events since then."""

        def find_next_query(page: Any) -> Params | None:
            offset = shapes.get(page, "next_offset")
            return {**first, "offset": offset} if isinstance(offset, str) else None

        api = self.api(account)
        first: Params = {
            "occurred_at[after]": int(since.timestamp()),
            "event_type[in]": f"[{','.join(chargebee_facts.READERS)}]",
            "sort_by[asc]": "occurred_at",
            "limit": _PAGE,
        }
        for page in paging.follow(lambda query: api.get("/events", query), first, find_next_query):
            if deliveries := [_to_delivery(shapes.get(item, "event")) for item in shapes.items(page, "list")]:
                yield deliveries


GATEWAY = Chargebee()


def _site(account: GatewayAccount) -> str:
    match = _SITE.fullmatch(account.credentials.get("site", "").strip())
    if match is None:
        raise CredentialsRefused("the site is the first part of its address, such as acme of acme.chargebee.com")
    return match[1].lower()


def _to_delivery(event: Any) -> GatewayDelivery:
    event_id, kind = shapes.require(event, "id"), shapes.require(event, "event_type")
    # Other events can report one transaction or credit note several times, so the event's id tells them apart.
    transaction_id = shapes.text(event, "content", "transaction", "id") if kind in chargebee_facts.ONCE else None
    return make_listed(transaction_id or event_id, kind, event, event_id)
