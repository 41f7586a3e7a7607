"""stripe: invoices of subscriptions, one-off payments of its checkout, charges that are refunded or disputed.

A sale's id is its invoice's, else its payment intent's; the other ids are aliases. Both shapes of an invoice are
read: the one since API version 2025-03-31 first, then the older. Refunds are counted by the charge's running total.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from adapters import clock
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
from adapters.gateways.card import stripe_facts
from adapters.gateways.wire import GatewayWire, Params, bearer, dumped
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact, IgnoredFact, UnreadableEvent

_VERSION = "2025-09-30.clover"
_EVENTS_KEPT = timedelta(days=29)
_STAMP = proofs.Stamp(between=",", time="t", digest="v1", joint=b".")
_PAGE = 100
_SENDS_ALREADY = "Let the endpoint whose signing secret you gave send the events below to the address below."
_MAKE_ONE = (
    "Open Developers, Webhooks, and add an endpoint for the address below with the events below.",
    "Copy its signing secret (whsec_…) into this connection as webhookSecret.",
)


class Stripe:
    """The adapter; it has no state."""

    name = "stripe"
    label = "Stripe"
    kind = "card"
    fields = (
        CredentialField("apiKey", "Secret or restricted key", "Developers, API keys: sk_… or rk_…"),
        CredentialField(
            "webhookSecret", "Signing secret", "Only for an endpoint that you made: whsec_…", required=False
        ),
    )
    capabilities = Capabilities(coupons=True, trials=True, disputes=tuple(DisputeState), leaves=True)
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Read the account."""
        said = api(account).get("/v1/account")
        account_id, key = shapes.needed(said, "id"), account.credentials.get("apiKey", "")
        modes = {"sk_live": True, "rk_live": True, "sk_test": False, "rk_test": False}
        return Known(account_id, modes.get(key[:7]), (account_id,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Make the endpoint, unless the brand gave the secret of one. A key without that right leaves it to them."""
        if account.credentials.get("webhookSecret"):
            return Subscribed(setup=events.by_hand(address, [_SENDS_ALREADY], stripe_facts.READERS))
        form = {"url": address, "enabled_events[]": list(stripe_facts.READERS), "api_version": _VERSION}
        try:
            made = api(account).ask("POST", "/v1/webhook_endpoints", form=form).json
        except (CredentialsRefused, GatewayRejected):
            return Subscribed(setup=events.by_hand(address, _MAKE_ONE, stripe_facts.READERS))
        return Subscribed({"endpoint": shapes.needed(made, "id"), "webhookSecret": shapes.needed(made, "secret")})

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Delete the endpoint that we made."""
        if endpoint := account.made.get("endpoint"):
            api(account).drop(f"/v1/webhook_endpoints/{endpoint}")

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check `Stripe-Signature`: `t=` and any number of `v1=`, five minutes either way."""
        header, received_s = request.headers.get("Stripe-Signature", ""), request.received_at.timestamp()
        proofs.require_stamped(header, _STAMP, request.body, received_s, secrets=account.secrets("webhookSecret"))
        return ProvedRequest((_delivery(request.body),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate an event, or an object that was read from a list."""
        event = _event(delivery.raw)
        read = stripe_facts.READERS.get(shapes.text(event, "type") or "")
        if read is None:
            return (IgnoredFact("unknown_type"),)
        if stripe_facts.is_update_without_metadata(event):
            return (IgnoredFact("metadata_unchanged"),)
        return read(api(account), shapes.at(event, "data", "object"), shapes.moment(event, "created"))

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the customer: their metadata, email and name."""
        if origin.customer_id is None:
            return origin
        customer = api(account).find(f"/v1/customers/{shapes.segment(origin.customer_id)}")
        carriers = stripe_facts.carriers(shapes.table(customer, "metadata"))
        email, name = shapes.text(customer, "email"), shapes.text(customer, "name")
        return origin.with_more(email=email, name=name, carriers=carriers)

    def read_subscription(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the subscription's metadata."""
        if origin.subscription_id is None:
            return origin
        subscription = api(account).find(f"/v1/subscriptions/{shapes.segment(origin.subscription_id)}")
        carriers = stripe_facts.carriers(shapes.table(subscription, "metadata"))
        return origin.with_more(email=None, name=None, carriers=carriers)

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the events of money since then; they are kept for thirty days, older invoices and refunds are listed."""
        wire, start = api(account), int(since.timestamp())
        for path, params in _lists(start, int(clock.now().timestamp())):
            yield from _pages(wire, path, params)


GATEWAY = Stripe()


def api(account: GatewayAccount) -> GatewayWire:
    """Return the API of an account."""
    headers = {**bearer(account.credentials.get("apiKey", "")), "Stripe-Version": _VERSION}
    return GatewayWire("stripe", "https://api.stripe.com", headers)


def _event(raw: bytes) -> Any:
    event = events.kept(raw)
    if shapes.at(event, "data", "object", "id") is None:
        raise UnreadableEvent("data.object.id is missing")
    return event


def _delivery(body: bytes) -> GatewayDelivery:
    event = events.glance(body)
    return events.delivery(body, shapes.text(event, "id"), shapes.text(event, "type"))


def _lists(since: int, now: int) -> Iterator[tuple[str, Params]]:
    """Yield what has to be read to know all money since then."""
    kept_since = max(since, now - int(_EVENTS_KEPT.total_seconds()))
    if since < kept_since:
        yield "/v1/invoices", {"status": "paid", "created[gte]": since, "created[lt]": kept_since}
        yield "/v1/refunds", {"created[gte]": since, "created[lt]": kept_since}
    yield "/v1/events", {"types[]": list(stripe_facts.READERS), "created[gte]": kept_since}


def _pages(wire: GatewayWire, path: str, params: Params) -> Iterator[Sequence[GatewayDelivery]]:
    after: Params = {}
    while True:
        page = wire.get(path, {**params, **after, "limit": _PAGE})
        found = shapes.items(page, "data")
        if not found:
            return
        yield [_listed(item) for item in found]
        if shapes.at(page, "has_more") is not True:
            return
        after = {"starting_after": shapes.needed(found[-1], "id")}


def _listed(item: Any) -> GatewayDelivery:
    if shapes.text(item, "object") != "event":
        kind = "invoice.paid" if shapes.text(item, "object") == "invoice" else "refund.updated"
        item = {"type": kind, "created": shapes.at(item, "created"), "data": {"object": item}}
    kind, told = shapes.text(item, "type") or "", shapes.at(item, "data", "object")
    parts = [shapes.text(told, "payment_intent") if kind.startswith("checkout.") else None, shapes.text(told, "id")]
    # What went back of a charge, and where a dispute stands, is told again and again under one id.
    parts += [shapes.text(told, "amount_refunded"), shapes.text(told, "status") if ".dispute." in kind else None]
    external = next(part for part in parts if part)
    # So is every change of a subscription and a customer.
    parts.append(shapes.text(item, "id") if kind in stripe_facts.UPDATES else None)
    told_again = [part for part in parts[2:] if part]
    key = ":".join(["reconcile", external, *told_again])
    return GatewayDelivery(key, kind, dumped(item), shapes.text(item, "id"))
