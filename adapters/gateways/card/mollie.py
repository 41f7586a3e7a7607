"""mollie: payments, and the refunds and chargebacks of them, each under its own id.

Two things come in. The classic call names a payment in a form and is not signed: it is never believed, a job asks for
what it names. The signed one (`X-Mollie-Signature`) is an event. What neither tells is found by reading the lists.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

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
    NotProved,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.card import mollie_facts
from adapters.gateways.wire import GatewayWire, bearer, dumped
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact, IgnoredFact

_PAGE = 250
_SIGNATURE = "X-Mollie-Signature"
_MADE_BY = ("live_", "test_")
_NAMED = re.compile(r"[a-z]{2,8}_[A-Za-z0-9]{1,64}")
_STEPS = (
    "Open Developers, Webhooks, and add a webhook for the address below with the events below.",
    "Copy its secret into this connection as webhookSecret.",
    "Or give the address below as webhookUrl of your payments and subscriptions. Payments with another webhookUrl, and "
    "what happens to them, are found by reading your lists every quarter of an hour.",
)
# How long before a list begins something may have been made that was decided since: a bank transfer is paid, a refund
# is carried out, a chargeback is reversed.
_DECIDED_LATE = {
    "payments": timedelta(days=14),
    "refunds": timedelta(days=5),
    "chargebacks": timedelta(days=120),
}


class Mollie:
    """The adapter; it has no state."""

    name = "mollie"
    label = "Mollie"
    kind = "card"
    fields = (
        CredentialField("apiKey", "API key", "Developers, API keys: live_… or test_…"),
        CredentialField("webhookSecret", "Webhook secret", "Only for a webhook that you made", required=False),
    )
    capabilities = Capabilities(
        disputes=(DisputeState.Lost, DisputeState.Won),
        lacks=(
            "Mollie has no discount codes.",
            "Payments whose webhook is not ours are found within a quarter of an hour.",
        ),
    )
    polls: timedelta | None = timedelta(minutes=15)

    def check(self, account: GatewayAccount) -> Known:
        """Read the profile of the key."""
        profile = _wire(account).get("/profiles/me")
        key = account.credentials.get("apiKey", "")
        is_live = key.startswith("live_") if key.startswith(_MADE_BY) else None
        profile_id = shapes.needed(profile, "id")
        return Known(shapes.text(profile, "name") or profile_id, is_live, (profile_id,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Make the webhook, unless the brand gave the secret of one. Most keys may not: the brand does it then."""
        by_hand = events.by_hand(address, _STEPS, mollie_facts.EVENTS)
        if account.credentials.get("webhookSecret"):
            return Subscribed(setup=by_hand)
        wanted = {"name": "Finderfee", "url": address, "eventTypes": list(mollie_facts.EVENTS)}
        try:
            made = _wire(account).ask("POST", "/webhooks", json=wanted).json
        except (CredentialsRefused, GatewayRejected):
            return Subscribed(setup=by_hand)
        return Subscribed({"webhook": shapes.needed(made, "id"), "webhookSecret": shapes.needed(made, "webhookSecret")})

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Delete the webhook that we made."""
        if webhook := account.made.get("webhook"):
            _wire(account).drop(f"/webhooks/{webhook}")

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check `X-Mollie-Signature`, any number of digests of the body; without one only a classic call is taken."""
        sent = request.headers.get(_SIGNATURE)
        if not sent:
            return ProvedRequest((_called(request),))
        digests = [part.strip().removeprefix("sha256=") for part in sent.split(",")]
        expected = (proofs.hex_digest(secret.encode(), request.body) for secret in account.secrets("webhookSecret"))
        proofs.require_match(digests, expected)
        return ProvedRequest((_delivery(request.body),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate an event, an object that was read from a list, or what a classic call names."""
        wire = _wire(account)
        if (named := _named(delivery.raw)) is not None:
            if not named.startswith("tr_"):
                return (IgnoredFact("unknown_type"),)
            return mollie_facts.of_payment(wire, named)
        event = events.kept(delivery.raw)
        return mollie_facts.of_event(wire, event)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the customer: their metadata, email and name."""
        if origin.customer_id is None:
            return origin
        customer = _wire(account).find(f"/customers/{shapes.segment(origin.customer_id)}")
        email, name = shapes.text(customer, "email"), shapes.text(customer, "name")
        return origin.with_more(email=email, name=name, carriers=mollie_facts.carriers(customer))

    def read_subscription(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the subscription's metadata, which a payment has a copy of as it was when it was made."""
        if origin.customer_id is None or origin.subscription_id is None:
            return origin
        customer_path = f"/customers/{shapes.segment(origin.customer_id)}"
        subscription = _wire(account).find(f"{customer_path}/subscriptions/{shapes.segment(origin.subscription_id)}")
        return origin.with_more(email=None, name=None, carriers=mollie_facts.carriers(subscription))

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read what was paid, refunded and charged back since then, each list from its newest."""
        wire = _wire(account)
        yield from _pages(wire, "payments", since, lambda item: _payment(item, since))
        yield from _pages(wire, "refunds", since, _refund)
        yield from _pages(wire, "chargebacks", since, lambda item: _chargeback(item, since))


GATEWAY = Mollie()


def _wire(account: GatewayAccount) -> GatewayWire:
    return GatewayWire("mollie", "https://api.mollie.com/v2", bearer(account.credentials.get("apiKey", "")))


def _named(body: bytes) -> str | None:
    """Return what a classic call names; None for what is no such call."""
    try:
        fields = dict(parse_qsl(body.decode("ascii"), max_num_fields=10))
    except ValueError:
        return None
    named = fields.get("id", "")
    return named if _NAMED.fullmatch(named) else None


def _called(request: Inbound) -> GatewayDelivery:
    """Return a classic call. Whatever changed it says the same, so each is another event: the payment is read again."""
    named = _named(request.body)
    if named is None:
        raise NotProved
    return GatewayDelivery(f"call:{named}:{request.received_at.timestamp():.6f}", "call", request.body, named)


def _delivery(body: bytes) -> GatewayDelivery:
    event = events.glance(body)
    return events.delivery(body, shapes.text(event, "id"), shapes.text(event, "type"))


def _pages(
    wire: GatewayWire, name: str, since: datetime, told: Callable[[Any], GatewayDelivery | None]
) -> Iterator[Sequence[GatewayDelivery]]:
    """Yield what a list tells, the newest first, as far back as something of it may have been decided since then."""
    oldest = since - _DECIDED_LATE[name]
    params: dict[str, str | int] = {"limit": _PAGE}
    while True:
        page = wire.get(f"/{name}", params)
        found = shapes.items(page, "_embedded", name)
        young = [item for item in found if shapes.moment(item, "createdAt") >= oldest]
        deliveries = [delivery for item in young if (delivery := told(item)) is not None]
        if deliveries:
            yield deliveries
        following = shapes.text(page, "_links", "next", "href")
        if following is None or not young or young[-1] is not found[-1]:
            return
        after = dict(parse_qsl(following.partition("?")[2])).get("from")
        if after is None or after == params.get("from"):
            return
        params = {**params, "from": after}


def _payment(payment: Any, since: datetime) -> GatewayDelivery | None:
    if shapes.text(payment, "status") != "paid" or mollie_facts.paid_at(payment) < since:
        return None
    return _listed("payment.paid", payment, shapes.needed(payment, "id"))


def _refund(refund: Any) -> GatewayDelivery | None:
    if shapes.text(refund, "status") != "refunded":
        return None
    return _listed("refund.refunded", refund, shapes.needed(refund, "id"))


def _chargeback(chargeback: Any, since: datetime) -> GatewayDelivery | None:
    chargeback_id, reversed_at = shapes.needed(chargeback, "id"), shapes.at(chargeback, "reversedAt")
    if reversed_at is not None:
        is_new = shapes.moment(reversed_at) >= since
        key, kind = f"{chargeback_id}:reversed", "chargeback.reversed"
    else:
        is_new = shapes.moment(chargeback, "createdAt") >= since
        key, kind = chargeback_id, "chargeback.received"
    return _listed(kind, chargeback, key) if is_new else None


def _listed(kind: str, entity: Any, key: str) -> GatewayDelivery:
    event = {"type": kind, "createdAt": shapes.at(entity, "createdAt"), "_embedded": {"entity": entity}}
    return GatewayDelivery(f"reconcile:{key}", kind, dumped({**event, "entityId": shapes.text(entity, "id")}))
