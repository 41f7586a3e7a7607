"""paypal: captures of orders and sales of subscriptions, their refunds, reversals and disputes.

An app hears only of payments that were made through it. Whether paypal sent an event, paypal itself is asked: the raw
bytes go into the question as they came, for a body that is written anew is no longer the one that was signed.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from adapters import clock
from adapters.gateways import events, shapes
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
from adapters.gateways.card import paypal_facts
from adapters.gateways.card.paypal_wire import PaypalWire
from adapters.gateways.wire import dumped
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact, IgnoredFact, UnreadableEvent

_WEBHOOKS = "/v1/notifications/webhooks"
_VERIFY = "/v1/notifications/verify-webhook-signature"
_SIGNED = {
    "auth_algo": "Paypal-Auth-Algo",
    "cert_url": "Paypal-Cert-Url",
    "transmission_id": "Paypal-Transmission-Id",
    "transmission_sig": "Paypal-Transmission-Sig",
    "transmission_time": "Paypal-Transmission-Time",
}
_SEARCH = "Switch on Transaction search for the app (Apps & Credentials, Features), so that what was missed is found."
_PAGE = 100
# Reports are up to three hours late, and go over a month at most.
_LATE, _WINDOW = timedelta(hours=3), timedelta(days=30)


class Paypal:
    """The adapter; it has no state."""

    name = "paypal"
    label = "PayPal"
    kind = "payments"
    fields = (
        CredentialField("clientId", "Client ID", "Apps & Credentials, of the app that takes your payments"),
        CredentialField("clientSecret", "Secret", "Apps & Credentials, beside the client ID of the same app"),
    )
    capabilities = Capabilities(
        disputes=(DisputeState.Lost, DisputeState.Won),
        lacks=(
            "PayPal has no discount codes.",
            "Only payments that were made through the app are told.",
            "A dispute is told when it is decided.",
        ),
    )
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Get a token, and see that the app has our webhook still."""
        wire = _wire(account)
        wire.new_token()
        webhook = account.made.get("webhook")
        if webhook and wire.find(f"{_WEBHOOKS}/{webhook}") is None:
            raise CredentialsRefused("the app has not the webhook that was made for this connection")
        client = account.credentials.get("clientId", "")
        return Known(client, account.mode == "live", (client,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Make the webhook, or take the one that is there for this address."""
        wire = _wire(account)
        wanted = {"url": address, "event_types": [{"name": name} for name in paypal_facts.READERS]}
        try:
            made = wire.ask("POST", _WEBHOOKS, json=wanted).json
        except GatewayRejected:
            there = [item for item in shapes.items(wire.get(_WEBHOOKS), "webhooks") if item.get("url") == address]
            if not there:
                raise
            made = there[0]
        return Subscribed({"webhook": shapes.needed(made, "id")}, Setup((_SEARCH,)))

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Delete the webhook that we made."""
        if webhook := account.made.get("webhook"):
            _wire(account).drop(f"{_WEBHOOKS}/{webhook}")

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Ask paypal whether it sent this to our webhook. Raises GatewayUnreachable where it cannot be asked."""
        signed = {name: request.headers.get(header, "") for name, header in _SIGNED.items()}
        if not all(signed.values()) or not isinstance(event := events.glance(request.body), dict):
            raise NotProved
        trouble = None
        for held in account.sets:
            try:
                if _is_from_paypal(account, held, signed, request.body):
                    event_id, kind = shapes.text(event, "id"), shapes.text(event, "event_type")
                    return ProvedRequest((events.delivery(request.body, event_id, kind),))
            except GatewayRejected:
                continue
            except (CredentialsRefused, GatewayUnreachable) as error:
                trouble = str(error)
        if trouble is not None:
            raise GatewayUnreachable(trouble)
        raise NotProved

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate an event, or a line of the report."""
        event = events.kept(delivery.raw)
        if (line := shapes.at(event, "transaction_info")) is not None:
            return paypal_facts.of_report(_wire(account), line, shapes.at(event, "payer_info"))
        if not isinstance(shapes.at(event, "resource"), Mapping):
            raise UnreadableEvent("resource is missing")
        read = paypal_facts.READERS.get(shapes.text(event, "event_type") or "")
        if read is None:
            return (IgnoredFact("unknown_type"),)
        return read(_wire(account), event["resource"], shapes.moment(event, "create_time"))

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return the origin as it is: orders and subscriptions were read already."""
        return origin

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the report of transactions since three hours before, month by month."""
        wire, now = _wire(account), clock.now()
        wire.new_token()  # what is refused after this is not the credentials
        start = since - _LATE
        while start < now:
            end = min(start + _WINDOW, now)
            yield from _pages(wire, start, end)
            start = end


GATEWAY = Paypal()


def _wire(account: GatewayAccount) -> PaypalWire:
    return PaypalWire(account.mode, account.credentials)


def _is_from_paypal(account: GatewayAccount, held: Mapping[str, str], signed: Mapping[str, str], body: bytes) -> bool:
    """Ask for the verdict on a body, which was read as one JSON object, with one set of credentials."""
    if not (webhook := held.get("webhook")):
        return False
    asked = orjson.dumps({**signed, "webhook_id": webhook})[:-1] + b',"webhook_event":' + body + b"}"
    wire = PaypalWire(account.mode, held)
    said = wire.ask("POST", _VERIFY, content=asked, headers={"Content-Type": "application/json"}).json
    return shapes.text(said, "verification_status") == "SUCCESS"


def _pages(wire: PaypalWire, start: datetime, end: datetime) -> Iterator[Sequence[GatewayDelivery]]:
    page, last = 1, 1
    while page <= last:
        params: dict[str, str | int] = {
            "start_date": start.isoformat(timespec="seconds"),
            "end_date": end.isoformat(timespec="seconds"),
            "fields": "transaction_info,payer_info",
            "page_size": _PAGE,
            "page": page,
        }
        said = _reported(wire, params)
        told = [item for item in shapes.items(said, "transaction_details") if paypal_facts.is_money(item)]
        if told:
            yield [_listed(item) for item in told]
        pages = shapes.at(said, "total_pages")
        page, last = page + 1, pages if isinstance(pages, int) else 1


def _reported(wire: PaypalWire, params: Mapping[str, str | int]) -> Any:
    """Read a page of the report. An app without that right has good credentials all the same."""
    try:
        return wire.get("/v1/reporting/transactions", params)
    except CredentialsRefused as error:
        raise GatewayRejected(403, f"{error}. {_SEARCH}") from error


def _listed(item: Any) -> GatewayDelivery:
    transaction_id = shapes.needed(item, "transaction_info", "transaction_id")
    kind = shapes.text(item, "transaction_info", "transaction_event_code") or ""
    return GatewayDelivery(f"reconcile:{transaction_id}", kind, dumped(item), transaction_id)
