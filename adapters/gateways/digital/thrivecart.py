"""thrivecart: orders, rebills and refunds, each confirmed by its list of transactions.

Deliveries are not signed: the account's secret word stands in the body. It is compared, and what is kept is without it.
A body is a form whose names have brackets, or JSON; what is kept is JSON.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from adapters.gateways import events, forms, proofs, shapes
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    Inbound,
    Known,
    NotProved,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.digital import thrivecart_facts
from adapters.gateways.digital.thrivecart_facts import PAGE, text
from adapters.gateways.wire import GatewayWire, bearer, dumped, parsed
from domain.gateways.facts import BuyerOrigin, Fact, IgnoredFact

_WORD_FIELD = "thrivecart_secret"
_BY_HAND = ("Open Settings, API & webhooks, Webhooks & notifications, and add the address below.",)
_NAMES = {"charge": "order.success", "rebill": "order.subscription_payment", "refund": "order.refund"}


class ThriveCart:
    """The adapter; it has no state."""

    name = "thrivecart"
    label = "ThriveCart"
    kind = "digital_goods"
    fields = (
        CredentialField("apiKey", "API token", "Settings, API & webhooks"),
        CredentialField("secretWord", "Secret word", "Settings, API & webhooks, ThriveCart order validation"),
    )
    capabilities = Capabilities(
        lacks=(
            "Codes are made by hand at ThriveCart.",
            "Chargebacks are not told: refund the order when one is lost.",
            "A payment whose webhook was lost is credited by history or email alone.",
            "What is sold after an order was told (an upsell) is not booked beside the order.",
        )
    )
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Ask whose token it is; how the answer names the account is not described."""
        said = _wire(account).get("/ping")
        named = (shapes.text(said, name) for name in ("account_name", "account", "account_id"))
        name = next((name for name in named if name), None)
        return Known(name or self.name, identity=(name,) if name else ())

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Ask for every event; where they say no, the brand pastes the address."""
        wanted = {"event": "*", "target_url": address, "trigger_fields": {"mode_int": _mode_int(account)}}
        try:
            _wire(account).ask("POST", "/subscribe", json=wanted)
        except GatewayRejected:
            return Subscribed(setup=events.by_hand(address, _BY_HAND))
        return Subscribed({"address": address})

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Take the subscription back."""
        address = account.made.get("address")
        try:
            if address:
                _wire(account).ask("POST", "/unsubscribe", json={"url": address})
        except GatewayRejected:  # it is gone already
            return

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Compare the secret word. What is no event gets an answer: an address is tried before it is taken."""
        if request.method in ("GET", "HEAD") or not request.body.strip():
            return ProvedRequest()
        try:
            told = _read(request.body)
            word = told.pop(_WORD_FIELD, None)
            raw = dumped(told)
        except (ValueError, RecursionError) as error:
            raise NotProved from error
        if word is None and "event" not in told:
            return ProvedRequest()
        proofs.require_match([word if isinstance(word, str) else ""], account.secrets("secretWord"))
        return ProvedRequest((_delivery(told, raw),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate an event, after the list of transactions confirmed it."""
        told = events.kept(delivery.raw)
        kind = shapes.needed(told, "event")
        reader = thrivecart_facts.reader(kind)
        if reader is None:
            is_item = kind.startswith("order_payment_")  # of an order that is told whole
            return (IgnoredFact("duplicate_of_another_event" if is_item else "unknown_type"),)
        is_test = account.mode == "test" or text(told, "mode") == "test" or text(told, "mode_int") == "1"
        return reader(_wire(account, is_test=is_test), told, is_test)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return the origin: nothing else tells more."""
        return origin

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the transactions, the newest first; an order with several items is told once."""
        wire, told = _wire(account), set[str]()
        number = 1
        while True:
            page = wire.get("/transactions", {"query": "", "transactionType": "any", "page": number, "perPage": PAGE})
            items = [item for item in shapes.items(page, "transactions") if shapes.moment(item, "timestamp") >= since]
            if not items:
                return
            by_key = {one.key: one for item in items if (one := _listed(item, _mode_int(account))) is not None}
            found = [delivery for key, delivery in by_key.items() if key not in told]
            told.update(by_key)
            if found:
                yield found
            number += 1


GATEWAY = ThriveCart()


def _wire(account: GatewayAccount, *, is_test: bool = False) -> GatewayWire:
    mode = "test" if is_test or account.mode == "test" else "live"
    headers = {**bearer(account.credentials.get("apiKey", "")), "X-TC-Mode": mode}
    return GatewayWire("thrivecart", "https://thrivecart.com/api/external", headers)


def _mode_int(account: GatewayAccount) -> int:
    return 1 if account.mode == "test" else 2


def _read(body: bytes) -> dict[str, Any]:
    """Return the fields of a form or of JSON. Raises ValueError."""
    if not body.lstrip().startswith(b"{"):
        return forms.nested(body)
    told = parsed(body)
    assert isinstance(told, dict)  # it begins as one, and is JSON
    return told


def _delivery(told: Mapping[str, Any], raw: bytes) -> GatewayDelivery:
    """Return an event under an id of its own; an order is told once, anything else without an id by its bytes."""
    kind, webhook_id = text(told, "event"), text(told, "webhook_id")
    order_id, event_id = text(told, "order_id"), text(told, "event_id")
    key = proofs.fingerprint(raw)
    if webhook_id:
        key = f"webhook:{webhook_id}"
    elif kind and order_id and (event_id or kind == "order.success"):
        parts = (kind, order_id, text(told, "invoice_id"), event_id)
        key = ":".join(part for part in parts if part)
    return GatewayDelivery(key, kind or "unreadable", raw, webhook_id or event_id or order_id)


def _listed(item: Any, mode_int: int) -> GatewayDelivery | None:
    """Return a transaction as an event that says no amount: the list that confirms it does."""
    kind = _NAMES.get(text(item, "transaction_type") or "")
    if kind is None:
        return None
    order_id, invoice_id = shapes.needed(item, "order_id"), text(item, "invoice_id")
    event_id = None if kind == "order.success" else shapes.needed(item, "event_id")
    external = {
        "order.success": f"{order_id}:{invoice_id or ''}",
        "order.subscription_payment": f"{order_id}:{invoice_id or ''}:{event_id}",
        "order.refund": f"refund:{event_id}",
    }[kind]
    event = {
        "event": kind,
        "from_list": True,
        "mode_int": mode_int,
        "order_id": order_id,
        "invoice_id": invoice_id,
        "event_id": event_id,
        "currency": shapes.at(item, "currency"),
        "date_unix": shapes.at(item, "timestamp"),
        "customer": shapes.at(item, "customer"),
    }
    return GatewayDelivery(f"reconcile:{external}", kind, dumped(event), event_id or order_id)
