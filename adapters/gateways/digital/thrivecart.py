"""thrivecart: orders, rebills and refunds, each confirmed by its list of transactions.

Deliveries are not signed: the body holds the account's secret word. It is compared, and is not stored.
A body is a form whose names have brackets, or JSON; it is stored as JSON.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from adapters.gateways import forms, proofs, shapes
from adapters.gateways.adapter import ApiAdapter, make_listed
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
from adapters.gateways.wire import GatewayApi, bearer, parse_json, serialize
from domain.gateways.facts import Facts, IgnoredFact

_WORD_FIELD = "thrivecart_secret"
_NAMES = {"charge": "order.success", "rebill": "order.subscription_payment", "refund": "order.refund"}


class ThriveCart(ApiAdapter):
    name = "thrivecart"
    label = "ThriveCart"
    kind = "digital_goods"
    fields = (
        CredentialField("apiKey", "API token", "Settings, API & webhooks"),
        CredentialField("secretWord", "Secret word", "Settings, API & webhooks, ThriveCart order validation"),
    )
    capabilities = Capabilities(
        lacks=(
            "Codes are created by hand at ThriveCart.",
            "Chargebacks are not reported: refund the order when one is lost.",
            "A payment whose webhook was lost is credited only by history or email.",
            "An upsell sold after the order was reported is not recorded separately.",
        )
    )
    by_hand = ("Open Settings, API & webhooks, Webhooks & notifications, and add the address below.",)

    def api(self, account: GatewayAccount, *, is_test: bool = False) -> GatewayApi:
        mode = "test" if is_test or account.mode == "test" else "live"
        headers = {**bearer(account.credentials.get("apiKey", "")), "X-TC-Mode": mode}
        return GatewayApi("thrivecart", "https://thrivecart.com/api/external", headers)

    def check(self, account: GatewayAccount) -> Known:
        """Read whose token it is; how the answer names the account is not documented."""
        answer = self.api(account).get("/ping")
        names = (shapes.text(answer, name) for name in ("account_name", "account", "account_id"))
        name = next((name for name in names if name), None)
        return Known(name or self.name, identity=(name,) if name else ())

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Subscribe to every event; where that is refused, the brand pastes the address."""
        webhook = {"event": "*", "target_url": address, "trigger_fields": {"mode_int": _mode_int(account)}}
        try:
            self.api(account).request("POST", "/subscribe", json=webhook)
        except GatewayRejected:
            return super().subscribe(account, address)
        return Subscribed({"address": address})

    def unsubscribe(self, account: GatewayAccount) -> None:
        if address := account.made.get("address"):
            with suppress(GatewayRejected):  # it is already gone
                self.api(account).request("POST", "/unsubscribe", json={"url": address})

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Compare the secret word. A body that is no event gets an answer: they try an address before they take it."""
        if request.method in ("GET", "HEAD") or not request.body.strip():
            return ProvedRequest()
        try:
            event = _parse_body(request.body)
            word = event.pop(_WORD_FIELD, None)
            raw = serialize(event)
        except (ValueError, RecursionError) as error:
            raise NotProved from error
        if word is None and "event" not in event:
            return ProvedRequest()
        proofs.require_match([word if isinstance(word, str) else ""], account.secrets("secretWord"))
        return ProvedRequest((_delivery(event, raw),))

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        """Translate an event, after the list of transactions confirmed it."""
        name = shapes.require(event, "event")
        reader = thrivecart_facts.reader(name)
        if reader is None:
            is_item = name.startswith("order_payment_")  # of an order that has an event of its own
            return IgnoredFact("duplicate_of_another_event" if is_item else "unknown_type")
        is_test = account.mode == "test" or text(event, "mode") == "test" or text(event, "mode_int") == "1"
        return reader(self.api(account, is_test=is_test), event, is_test)

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the transactions, the newest first; an order with several items is listed once."""
        api, seen = self.api(account), set[str]()
        for number in itertools.count(1):
            page = api.get("/transactions", {"query": "", "transactionType": "any", "page": number, "perPage": PAGE})
            items = [item for item in shapes.items(page, "transactions") if shapes.moment(item, "timestamp") >= since]
            if not items:
                return
            listed = (_to_delivery(item, _mode_int(account)) for item in items)
            by_key = {delivery.key: delivery for delivery in listed if delivery is not None}
            if deliveries := [delivery for key, delivery in by_key.items() if key not in seen]:
                yield deliveries
            seen.update(by_key)


GATEWAY = ThriveCart()


def _mode_int(account: GatewayAccount) -> int:
    return 1 if account.mode == "test" else 2


def _parse_body(body: bytes) -> dict[str, Any]:
    """Return the fields of a form or of JSON. Raises ValueError."""
    if not body.lstrip().startswith(b"{"):
        return forms.parse_nested(body)
    event = parse_json(body)
    assert isinstance(event, dict)  # it begins as one, and is JSON
    return event


def _delivery(event: Mapping[str, Any], raw: bytes) -> GatewayDelivery:
    """Return an event under an id of its own; an order comes once, anything else without an id by its bytes."""
    kind, webhook_id = text(event, "event"), text(event, "webhook_id")
    order_id, event_id = text(event, "order_id"), text(event, "event_id")
    key = proofs.fingerprint(raw)
    if webhook_id:
        key = f"webhook:{webhook_id}"
    elif kind and order_id and (event_id or kind == "order.success"):
        parts = (kind, order_id, text(event, "invoice_id"), event_id)
        key = ":".join(part for part in parts if part)
    return GatewayDelivery(key, kind or "unreadable", raw, webhook_id or event_id or order_id)


def _to_delivery(item: Any, mode_int: int) -> GatewayDelivery | None:
    """Return a transaction as an event without an amount: the list that confirms it has that."""
    kind = _NAMES.get(text(item, "transaction_type") or "")
    if kind is None:
        return None
    order_id, invoice_id = shapes.require(item, "order_id"), text(item, "invoice_id")
    event_id = None if kind == "order.success" else shapes.require(item, "event_id")
    external_id = {
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
        "currency": shapes.get(item, "currency"),
        "date_unix": shapes.get(item, "timestamp"),
        "customer": shapes.get(item, "customer"),
    }
    return make_listed(external_id, kind, event, event_id or order_id)
