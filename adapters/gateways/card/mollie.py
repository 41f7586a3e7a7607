"""mollie: payments, and the refunds and chargebacks of them, each under its own id.

Two things come in. The classic call names a payment in a form and is not signed: it is never believed, a job reads what
it names. The signed one (`X-Mollie-Signature`) is an event. Payments of which neither reports are found in the lists.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from adapters.gateways import proofs, shapes
from adapters.gateways.adapter import OneWebhookAdapter, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    GatewayAccount,
    GatewayDelivery,
    Inbound,
    Known,
    NotProved,
)
from adapters.gateways.card import mollie_facts
from adapters.gateways.wire import GatewayWire, bearer
from domain.gateways.facts import Carrier, DisputeState, Facts, IgnoredFact

_PAGE = 250
_SIGNATURE = "X-Mollie-Signature"
_MADE_BY = ("live_", "test_")
_ID = re.compile(r"[a-z]{2,8}_[A-Za-z0-9]{1,64}")
# How long before the start of a list something may have been made that was decided since: a bank transfer is paid, a
# refund is carried out, a chargeback is reversed.
_DECIDED_LATE = {
    "payments": timedelta(days=14),
    "refunds": timedelta(days=5),
    "chargebacks": timedelta(days=120),
}


class Mollie(OneWebhookAdapter):
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
    polls = timedelta(minutes=15)
    webhooks_path = "/webhooks"
    webhook_secret = ("webhookSecret",)
    by_hand = (
        "Open Developers, Webhooks, and add a webhook for the address below with the events below.",
        "Copy its secret into this connection as webhookSecret.",
        "Or give the address below as webhookUrl of your payments and subscriptions. Payments with another webhookUrl,"
        " and what happens to them, are found by reading your lists every quarter of an hour.",
    )
    sent_events = mollie_facts.EVENTS
    customer_path = "/customers/{customer}"
    # A payment has a copy of the subscription's metadata, as it was when the payment was made.
    subscription_path = "/customers/{customer}/subscriptions/{subscription}"

    def api(self, account: GatewayAccount) -> GatewayWire:
        return GatewayWire("mollie", "https://api.mollie.com/v2", bearer(account.credentials.get("apiKey", "")))

    def check(self, account: GatewayAccount) -> Known:
        profile = self.api(account).get("/profiles/me")
        key = account.credentials.get("apiKey", "")
        is_live = key.startswith("live_") if key.startswith(_MADE_BY) else None
        profile_id = shapes.require(profile, "id")
        return Known(shapes.text(profile, "name") or profile_id, is_live, (profile_id,))

    def make_webhook(self, account: GatewayAccount, address: str) -> Any:
        webhook = {"name": "Finderfee", "url": address, "eventTypes": list(mollie_facts.EVENTS)}
        return self.api(account).ask("POST", self.webhooks_path, json=webhook).json

    def verify(self, account: GatewayAccount, request: Inbound) -> None:
        """Check `X-Mollie-Signature`, any number of digests of the body; without it only a classic call is accepted."""
        signature = request.headers.get(_SIGNATURE)
        if signature:
            digests = [part.strip().removeprefix("sha256=") for part in signature.split(",")]
            secrets = account.secrets("webhookSecret")
            proofs.require_match(digests, (proofs.hex_digest(secret.encode(), request.body) for secret in secrets))

    def read_delivery(self, request: Inbound) -> GatewayDelivery:
        if request.headers.get(_SIGNATURE):
            return super().read_delivery(request)
        called_id = _called_id(request.body)
        if called_id is None:
            raise NotProved
        # Every change causes the same call, so each call is another event: the payment is read again.
        key = f"call:{called_id}:{request.received_at.timestamp():.6f}"
        return GatewayDelivery(key, "call", request.body, called_id)

    def read_event(self, raw: bytes) -> Any:
        """Return an event, or the id that a classic call names."""
        return _called_id(raw) or super().read_event(raw)

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        if not isinstance(event, str) or not _ID.fullmatch(event):
            return mollie_facts.of_event(self.api(account), event)
        is_payment = event.startswith("tr_")
        return mollie_facts.of_payment(self.api(account), event) if is_payment else IgnoredFact("unknown_type")

    def read_carriers(self, holder: Any) -> tuple[Carrier, ...]:
        return mollie_facts.carriers(holder)

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read what was paid, refunded and charged back since then, each list from its newest."""
        api = self.api(account)
        yield from _pages(api, "payments", since, lambda item: _payment(item, since))
        yield from _pages(api, "refunds", since, _refund)
        yield from _pages(api, "chargebacks", since, lambda item: _chargeback(item, since))


GATEWAY = Mollie()


def _called_id(body: bytes) -> str | None:
    """Return the id that a classic call names; None for a body that is no such call."""
    try:
        fields = dict(parse_qsl(body.decode("ascii"), max_num_fields=10))
    except ValueError:
        return None
    called_id = fields.get("id", "")
    return called_id if _ID.fullmatch(called_id) else None


def _pages(
    api: GatewayWire, name: str, since: datetime, read: Callable[[Any], GatewayDelivery | None]
) -> Iterator[Sequence[GatewayDelivery]]:
    """Yield the objects of a list, the newest first, as far back as one may have been decided since then."""
    oldest = since - _DECIDED_LATE[name]
    params: dict[str, str | int] = {"limit": _PAGE}
    while True:
        page = api.get(f"/{name}", params)
        items = shapes.items(page, "_embedded", name)
        young = [item for item in items if shapes.moment(item, "createdAt") >= oldest]
        if deliveries := [delivery for item in young if (delivery := read(item)) is not None]:
            yield deliveries
        next_page = shapes.text(page, "_links", "next", "href")
        if next_page is None or not young or young[-1] is not items[-1]:
            return
        after = dict(parse_qsl(next_page.partition("?")[2])).get("from")
        if after is None or after == params.get("from"):
            return
        params = {**params, "from": after}


def _payment(payment: Any, since: datetime) -> GatewayDelivery | None:
    if shapes.text(payment, "status") != "paid" or mollie_facts.paid_at(payment) < since:
        return None
    return _to_delivery("payment.paid", payment, shapes.require(payment, "id"))


def _refund(refund: Any) -> GatewayDelivery | None:
    if shapes.text(refund, "status") != "refunded":
        return None
    return _to_delivery("refund.refunded", refund, shapes.require(refund, "id"))


def _chargeback(chargeback: Any, since: datetime) -> GatewayDelivery | None:
    chargeback_id, reversed_at = shapes.require(chargeback, "id"), shapes.at(chargeback, "reversedAt")
    if reversed_at is not None:
        is_new = shapes.moment(reversed_at) >= since
        key, kind = f"{chargeback_id}:reversed", "chargeback.reversed"
    else:
        is_new = shapes.moment(chargeback, "createdAt") >= since
        key, kind = chargeback_id, "chargeback.received"
    return _to_delivery(kind, chargeback, key) if is_new else None


def _to_delivery(kind: str, entity: Any, key: str) -> GatewayDelivery:
    event = {"type": kind, "createdAt": shapes.at(entity, "createdAt"), "_embedded": {"entity": entity}}
    return make_listed(key, kind, {**event, "entityId": shapes.text(entity, "id")})
