"""maxio (Advanced Billing, formerly Chargify): payments, refunds and trials of a site, told as forms.

A refund names no payment, so it is placed by the invoices; chargebacks have no webhook and are found in lists alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from adapters.gateways import events, forms, proofs, shapes
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
    ProvedRequest,
    Setup,
    Subscribed,
)
from adapters.gateways.billing import maxio_facts
from adapters.gateways.wire import GatewayWire, Params, basic, dumped, parsed
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact, IgnoredFact

_EVENTS = ("payment_success", "refund_success", "signup_success")
_SIGNATURE = "X-Chargify-Webhook-Signature-Hmac-Sha-256"  # the older header without these words is MD5
_HOSTS = {"us": "chargify.com", "eu": "ebilling.maxio.com"}
_SUBDOMAIN = re.compile(r"(?:https://)?([a-z0-9][a-z0-9-]{0,62})(?:\.chargify\.com|\.ebilling\.maxio\.com)?/?", re.I)
_PAGE = 200
_BY_HAND = "Open Config, Settings, Webhooks, and add an endpoint for the address below with the events below."
_SWITCH_ON = "Open Config, Settings, Webhooks, and switch webhooks on."


class Maxio:
    """The adapter; it has no state."""

    name = "maxio"
    label = "Maxio Advanced Billing"
    kind = "subscription"
    fields = (
        CredentialField(
            "subdomain", "Subdomain", "The first part of your site's address: acme of acme.chargify.com", False
        ),
        CredentialField("apiKey", "API key", "Config, Integrations, API keys"),
        CredentialField("sharedKey", "Site shared key", "Config, Settings, Shared keys: it signs the webhooks"),
        CredentialField("region", "Region", "us (default) or eu: where your site's data is", False, required=False),
    )
    capabilities = Capabilities(
        coupons=True,
        trials=True,
        disputes=tuple(DisputeState),
        lacks=("Chargebacks have no webhook: the nightly look at the invoices finds them.",),
    )
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Read the site."""
        site = shapes.at(api(account).get("/site.json"), "site")
        is_test = shapes.at(site, "test")
        subdomain, region = shapes.needed(site, "subdomain"), account.credentials.get("region") or "us"
        is_live = not is_test if isinstance(is_test, bool) else None
        return Known(subdomain, is_live, (subdomain, region.strip().lower()))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Make the endpoint and switch webhooks on; what the key may not do is left to the brand."""
        wire = api(account)
        endpoint = {"endpoint": {"url": address, "webhook_subscriptions": list(_EVENTS)}}
        try:
            said = wire.ask("POST", "/endpoints.json", json=endpoint).json
        except (CredentialsRefused, GatewayRejected):
            return Subscribed(setup=events.by_hand(address, (_BY_HAND, _SWITCH_ON), _EVENTS))
        made = {"endpoint": shapes.needed(said, "endpoint", "id"), "address": address}
        try:
            wire.ask("PUT", "/webhooks/settings.json", json={"webhooks_enabled": True})
        except (CredentialsRefused, GatewayRejected):
            return Subscribed(made, Setup((_SWITCH_ON,)))
        except GatewayUnreachable:
            self.unsubscribe(replace(account, made=made))
            raise
        return Subscribed(made)

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Let the endpoint hear of nothing: the API cannot delete one."""
        if endpoint := account.made.get("endpoint"):
            silent = {"endpoint": {"url": account.made.get("address", ""), "webhook_subscriptions": []}}
            try:
                api(account).ask("PUT", f"/endpoints/{endpoint}.json", json=silent)
            except GatewayRejected as error:
                if error.status not in (404, 410):
                    raise

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check the digest of the form as it came. No time is in it."""
        expected = (proofs.hex_digest(key.encode(), request.body) for key in account.secrets("sharedKey"))
        proofs.require_match([request.headers.get(_SIGNATURE, "")], expected)
        return ProvedRequest((_delivery(request.body),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate a form, or what was found in a list."""
        event = _event(delivery.raw)
        kind, payload = shapes.needed(event, "event"), shapes.at(event, "payload")
        if kind == "test":
            return (IgnoredFact("ping"),)
        read = maxio_facts.READERS.get(kind)
        if read is None:
            return (IgnoredFact("unknown_type"),)
        return read(api(account), payload)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the customer, where nobody is named; what names an affiliate was read before."""
        if origin.customer_id is None or (origin.email and origin.name):
            return origin
        said = api(account).find(f"/customers/{shapes.segment(origin.customer_id)}.json")
        customer = shapes.at(said, "customer")
        name = shapes.full_name(customer, "first_name", "last_name")
        return origin.with_more(email=shapes.text(customer, "email"), name=name)

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the webhooks since then, the payments and refunds of invoices, their chargebacks, and changed fields."""
        wire, seen = api(account), set[str]()
        day = (since - timedelta(days=1)).strftime("%Y-%m-%d")  # the site's own days, wherever it is
        for page in _pages(wire, "/webhooks.json", {"since_date": day, "order": "oldest_first"}):
            yield from _unseen(seen, (_sent(shapes.at(item, "webhook")) for item in page))
        changed: Params = {"date_field": "updated_at", "start_date": day, "direction": "asc", **maxio_facts.SHOWN}
        for page in _pages(wire, "/invoices.json", changed, "invoices"):
            yield from _unseen(seen, (one for invoice in page for one in _of_invoice(invoice, since)))
        asked: Params = {"since_date": day, "event_types": "change_chargeback_status"}
        for page in _pages(wire, "/invoices/events.json", asked, "events"):
            yield from _unseen(seen, (_chargeback(event) for event in page))
        fields: Params = {
            "filter": maxio_facts.CHANGED_FIELD,
            "date_field": "created_at",
            "start_date": day,
            "direction": "asc",
        }
        for page in _pages(wire, "/events.json", fields):
            yield from _unseen(seen, (_changed_field(shapes.at(item, "event")) for item in page))


GATEWAY = Maxio()


def api(account: GatewayAccount) -> GatewayWire:
    subdomain = _SUBDOMAIN.fullmatch(account.credentials.get("subdomain", "").strip())
    host = _HOSTS.get((account.credentials.get("region") or "us").strip().lower())
    if subdomain is None:
        raise CredentialsRefused("the subdomain is the first part of the site's address, such as acme")
    if host is None:
        raise CredentialsRefused("the region is us or eu")
    headers = basic(account.credentials.get("apiKey", ""), "x")
    return GatewayWire("maxio", f"https://{subdomain[1].lower()}.{host}", headers, is_typed=True)


def _event(raw: bytes) -> Any:
    """Return an event with its nested payload: a form as it was sent, or JSON as `_made` writes it."""
    return events.kept(raw, parsed if raw.startswith(b"{") else forms.nested)


def _delivery(body: bytes) -> GatewayDelivery:
    event = events.glance(body, forms.nested)
    return events.delivery(body, shapes.text(event, "id"), shapes.text(event, "event"))


def _pages(wire: GatewayWire, path: str, params: Params, name: str | None = None) -> Iterator[Sequence[Any]]:
    """Yield the pages of a list, until one is not full. A site without invoices has none."""
    number = 1
    while True:
        said = wire.find(path, {**params, "per_page": _PAGE, "page": number})
        found = shapes.items({"list": said}, "list") if name is None else shapes.items(said, name)
        if found:
            yield found
        if len(found) < _PAGE:
            return
        number += 1


def _unseen(seen: set[str], found: Iterator[GatewayDelivery | None]) -> Iterator[Sequence[GatewayDelivery]]:
    """Yield what was not listed before, as one page."""
    page = []
    for delivery in found:
        if delivery is not None and delivery.key not in seen:
            seen.add(delivery.key)
            page.append(delivery)
    if page:
        yield page


def _sent(webhook: Any) -> GatewayDelivery | None:
    """Return a webhook that was sent, or should have been."""
    body, kind = shapes.at(webhook, "body"), shapes.text(webhook, "event")
    if kind not in _EVENTS or not isinstance(body, str):
        return None
    told = _delivery(body.encode())
    payload = shapes.at(events.glance(told.raw, forms.nested), "payload")
    paid, refunded = shapes.text(payload, "transaction", "id"), shapes.text(payload, "refund_id")
    return replace(told, key=f"reconcile:{refunded or paid or told.key}")


def _of_invoice(invoice: Any, since: datetime) -> Iterator[GatewayDelivery]:
    holders = (shapes.text(invoice, name) for name in ("subscription_id", "group_primary_subscription_id"))
    named = {"subscription_id": next(filter(None, holders), None), "invoice_uid": shapes.text(invoice, "uid")}
    for payment in shapes.items(invoice, "payments"):
        paid_id, at = shapes.text(payment, "transaction_id"), shapes.text(payment, "transaction_time")
        if not paid_id or shapes.at(payment, "prepayment") is True:
            continue
        # An invoice that changed lists the old payments too.
        if shapes.is_since(since, partial(maxio_facts.moment, payment, "transaction_time")):
            yield _made("payment_success", paid_id, {**named, "transaction": {"id": paid_id, "created_at": at}})
    for refund in shapes.items(invoice, "refunds"):
        if refund_id := shapes.text(refund, "transaction_id"):
            yield _made("refund_success", refund_id, {**named, "refund_id": refund_id})


def _chargeback(event: Any) -> GatewayDelivery:
    told = {
        "invoice_uid": shapes.text(event, "invoice", "uid"),
        "status": shapes.text(event, "event_data", "chargeback_status"),
        "timestamp": shapes.text(event, "timestamp"),
    }
    return _made("change_chargeback_status", f"chargeback:{shapes.text(event, 'id')}", told)


def _changed_field(event: Any) -> GatewayDelivery | None:
    if shapes.text(event, "key") != maxio_facts.CHANGED_FIELD:
        return None
    change = shapes.at(event, "event_specific_data")
    payload = {
        "resource_type": shapes.text(change, "resource_type"),
        "resource_id": shapes.text(change, "resource_id"),
        "timestamp": shapes.text(event, "created_at"),
    }
    return _made(maxio_facts.CHANGED_FIELD, f"event:{shapes.text(event, 'id')}", payload)


def _made(kind: str, external_id: str, payload: Any) -> GatewayDelivery:
    return GatewayDelivery(f"reconcile:{external_id}", kind, dumped({"event": kind, "payload": payload}))
