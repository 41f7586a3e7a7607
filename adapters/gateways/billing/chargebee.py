"""chargebee: payments, refunds and chargebacks of a site's invoices.

Nothing is signed: whoever knows the user and the password of the webhook can send anything. So an event only says
which one to read: what it means is read from the API, by its id.
"""

import base64
import re
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
    Inbound,
    Known,
    NotProved,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.billing import chargebee_facts
from adapters.gateways.wire import GatewayWire, basic, dumped
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact, IgnoredFact, UnreadableEvent

_USER, _PASSWORD = "webhookUser", "webhookPassword"
_SITE = re.compile(r"(?:https://)?([a-z0-9][a-z0-9-]{0,62})(?:\.chargebee\.com)?/?", re.IGNORECASE)
_PAGE = 100
_BY_HAND = (
    "Open Settings, Configure Chargebee, Webhooks, and add a webhook for the address below, API version 2.",
    "Turn on its basic authentication, with the user and the password of this connection.",
    "Let it send the events below (or all of them).",
)


class Chargebee:
    """The adapter; it has no state."""

    name = "chargebee"
    label = "Chargebee"
    kind = "subscription"
    fields = (
        CredentialField("site", "Site", "The first part of your site's address: acme of acme.chargebee.com", False),
        CredentialField("apiKey", "API key", "Settings, Configure Chargebee, API keys: one that may read everything"),
        CredentialField(_USER, "Webhook user", "Of the webhook's basic authentication; else we make one", False, False),
        CredentialField(_PASSWORD, "Webhook password", "Of the same; else we make one", required=False),
    )
    capabilities = Capabilities(coupons=True, trials=True, own_ids=True, disputes=(DisputeState.Lost,))
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Read an event of the site."""
        wire, site = api(account), _site(account)
        wire.get("/events", {"limit": 1})
        key = account.credentials.get("apiKey", "")
        is_live = key.startswith("live_") if key.startswith(("live_", "test_")) else None
        return Known(site, False if site.endswith("-test") else is_live, (site,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Say where to make the webhook, and make what of its user and password the brand did not type."""
        made = {name: secrets.token_hex(24) for name in (_USER, _PASSWORD) if not account.credentials.get(name)}
        return Subscribed(made, events.by_hand(address, _BY_HAND, chargebee_facts.READERS, **made))

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Nothing was made there."""

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check the user and the password, which must be of one set."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            told = base64.b64decode(token.strip(), validate=True).decode()
        except ValueError as error:
            raise NotProved from error
        pairs = ((each.get(_USER), each.get(_PASSWORD)) for each in account.sets)
        expected = [f"{user}:{password}" for user, password in pairs if user and password]
        proofs.require_match([told] if scheme.lower() == "basic" else [], expected)
        return ProvedRequest((_delivery(request.body),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Read the event at the gateway and translate what stands there; one that it does not know is no event."""
        told = events.kept(delivery.raw)
        if shapes.needed(told, "event_type") not in chargebee_facts.READERS:
            return (IgnoredFact("unknown_type"),)
        event_id, wire = shapes.needed(told, "id"), api(account)
        event = shapes.at(wire.find(f"/events/{shapes.segment(event_id)}"), "event")
        if event is None:
            return (IgnoredFact("unknown_at_gateway"),)
        if shapes.text(event, "id") != event_id:
            raise UnreadableEvent("another event was read than the one that was told")
        read = chargebee_facts.READERS.get(shapes.needed(event, "event_type"))
        if read is None:
            return (IgnoredFact("unknown_type"),)
        return read(wire, shapes.at(event, "content"), shapes.moment(event, "occurred_at"))

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the subscription with its customer, or the customer alone."""
        wire, said = api(account), None
        if origin.subscription_id:
            said = wire.find(f"/subscriptions/{shapes.segment(origin.subscription_id)}")
        if said is None and origin.customer_id:
            said = wire.find(f"/customers/{shapes.segment(origin.customer_id)}")
        found = chargebee_facts.origin_of(said)
        return origin.with_more(email=found.email, name=found.name, carriers=found.carriers)

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the events since then."""
        wire = api(account)
        params: dict[str, str | int] = {
            "occurred_at[after]": int(since.timestamp()),
            "event_type[in]": f"[{','.join(chargebee_facts.READERS)}]",
            "sort_by[asc]": "occurred_at",
            "limit": _PAGE,
        }
        while True:
            page = wire.get("/events", params)
            found = [_listed(shapes.at(item, "event")) for item in shapes.items(page, "list")]
            if found:
                yield found
            offset = shapes.at(page, "next_offset")
            if not isinstance(offset, str):
                return
            params = {**params, "offset": offset}


GATEWAY = Chargebee()


def _site(account: GatewayAccount) -> str:
    found = _SITE.fullmatch(account.credentials.get("site", "").strip())
    if found is None:
        raise CredentialsRefused("the site is the first part of its address, such as acme of acme.chargebee.com")
    return found[1].lower()


def api(account: GatewayAccount) -> GatewayWire:
    address = f"https://{_site(account)}.chargebee.com/api/v2"
    return GatewayWire("chargebee", address, basic(account.credentials.get("apiKey", "")), is_typed=True)


def _delivery(body: bytes) -> GatewayDelivery:
    event = events.glance(body)
    return events.delivery(body, shapes.text(event, "id"), shapes.text(event, "event_type"))


def _listed(event: Any) -> GatewayDelivery:
    event_id, kind = shapes.needed(event, "id"), shapes.needed(event, "event_type")
    # A transaction or a credit note is told again under its own id when something happens to it later.
    external = shapes.text(event, "content", "transaction", "id") if kind in chargebee_facts.ONCE else None
    return GatewayDelivery(f"reconcile:{external or event_id}", kind, dumped(event), event_id)
