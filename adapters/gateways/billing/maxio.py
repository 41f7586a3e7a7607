"""maxio (Advanced Billing, formerly Chargify): payments, refunds and trials of a site, sent as forms.

A refund names no payment, so its payment is found in the invoices; chargebacks have no webhook and are found
only in lists.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from adapters.gateways import forms, paging, proofs, shapes
from adapters.gateways.adapter import ApiAdapter, make_delivery, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    GatewayUnreachable,
    Known,
    Setup,
    Subscribed,
)
from adapters.gateways.billing import maxio_facts
from adapters.gateways.wire import GatewayApi, Params, basic, ignoring_missing_object, parse_json
from domain.gateways.facts import BuyerOrigin, DisputeState, Facts, IgnoredFact

_EVENTS = ("payment_success", "refund_success", "signup_success")
_HOSTS = {"us": "chargify.com", "eu": "ebilling.maxio.com"}
_SUBDOMAIN = re.compile(r"(?:https://)?([a-z0-9][a-z0-9-]{0,62})(?:\.chargify\.com|\.ebilling\.maxio\.com)?/?", re.I)
_PAGE = 200
_SWITCH_ON = "Open Config, Settings, Webhooks, and switch webhooks on."


class Maxio(ApiAdapter):
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
        lacks=("Chargebacks have no webhook: they are found when the invoices are read each night.",),
    )
    type_path = ("event",)
    # The older header, without the last words, is MD5.
    proof = proofs.BodyDigest("X-Chargify-Webhook-Signature-Hmac-Sha-256", "sharedKey")
    by_hand = (
        "Open Config, Settings, Webhooks, and add an endpoint for the address below with the events below.",
        _SWITCH_ON,
    )
    sent_events = _EVENTS
    customer_path = "/customers/{customer}.json"
    customer_in = ("customer",)
    customer_names = ("first_name", "last_name")

    def api(self, account: GatewayAccount) -> GatewayApi:
        subdomain = _SUBDOMAIN.fullmatch(account.credentials.get("subdomain", "").strip())
        host = _HOSTS.get((account.credentials.get("region") or "us").strip().lower())
        if subdomain is None:
            raise CredentialsRefused("the subdomain is the first part of the site's address, such as acme")
        if host is None:
            raise CredentialsRefused("the region is us or eu")
        headers = basic(account.credentials.get("apiKey", ""), "x")
        return GatewayApi("maxio", f"https://{subdomain[1].lower()}.{host}", headers, is_brands_host=True)

    def check(self, account: GatewayAccount) -> Known:
        """Read the site."""
        site = shapes.get(self.api(account).get("/site.json"), "site")
        is_test = shapes.get(site, "test")
        subdomain, region = shapes.require(site, "subdomain"), account.credentials.get("region") or "us"
        is_live = not is_test if isinstance(is_test, bool) else None
        return Known(subdomain, is_live, (subdomain, region.strip().lower()))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Create the endpoint and enable webhooks; the brand does what the key has no permission for."""
        api = self.api(account)
        endpoint = {"endpoint": {"url": address, "webhook_subscriptions": list(_EVENTS)}}
        try:
            answer = api.request("POST", "/endpoints.json", json=endpoint).json
        except (CredentialsRefused, GatewayRejected):
            return Subscribed(setup=self.setup_by_hand(address))
        stored = {"endpoint": shapes.require(answer, "endpoint", "id"), "address": address}
        try:
            api.request("PUT", "/webhooks/settings.json", json={"webhooks_enabled": True})
        except (CredentialsRefused, GatewayRejected):
            return Subscribed(stored, Setup((_SWITCH_ON,)))
        except GatewayUnreachable:
            self.unsubscribe(replace(account, made=stored))
            raise
        return Subscribed(stored)

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Unsubscribe the endpoint from all events, because the API cannot delete an endpoint."""
        if endpoint := account.made.get("endpoint"):
            silent = {"endpoint": {"url": account.made.get("address", ""), "webhook_subscriptions": []}}
            with ignoring_missing_object():
                self.api(account).request("PUT", f"/endpoints/{endpoint}.json", json=silent)

    def parse(self, raw: bytes) -> Any:
        """Return an event with its nested payload: a form as it was sent, or JSON as it was listed."""
        return parse_json(raw) if raw.startswith(b"{") else forms.parse_nested(raw)

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        name, payload = shapes.require(event, "event"), shapes.get(event, "payload")
        if name == "test":
            return IgnoredFact("ping")
        read = maxio_facts.READERS.get(name)
        return IgnoredFact("unknown_type") if read is None else read(self.api(account), payload)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the customer for their email and name; the brand's own fields were read before."""
        return origin if origin.email and origin.name else super().look_closer(account, origin)

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the webhooks since then, the payments and refunds of invoices, their chargebacks, and changed fields."""
        api, seen = self.api(account), set[str]()
        day = (since - timedelta(days=1)).strftime("%Y-%m-%d")  # the site's own days, wherever it is
        for page in _pages(api, "/webhooks.json", {"since_date": day, "order": "oldest_first"}):
            yield from _drop_listed(seen, (_sent_webhook(shapes.get(item, "webhook")) for item in page))
        changed: Params = {"date_field": "updated_at", "start_date": day, "direction": "asc", **maxio_facts.SHOWN}
        for page in _pages(api, "/invoices.json", changed, "invoices"):
            yield from _drop_listed(seen, (delivery for invoice in page for delivery in _of_invoice(invoice, since)))
        chargebacks: Params = {"since_date": day, "event_types": "change_chargeback_status"}
        for page in _pages(api, "/invoices/events.json", chargebacks, "events"):
            yield from _drop_listed(seen, (_chargeback(event) for event in page))
        fields: Params = {
            "filter": maxio_facts.CHANGED_FIELD,
            "date_field": "created_at",
            "start_date": day,
            "direction": "asc",
        }
        for page in _pages(api, "/events.json", fields):
            yield from _drop_listed(seen, (_changed_field(shapes.get(item, "event")) for item in page))


GATEWAY = Maxio()


def _pages(api: GatewayApi, path: str, params: Params, name: str | None = None) -> Iterator[list[Any]]:
    """Yield the pages of a list. A site without invoices has none."""

    def fetch(number: int) -> list[Any]:
        page = api.find(path, {**params, "per_page": _PAGE, "page": number})
        return shapes.items({"list": page}, "list") if name is None else shapes.items(page, name)

    return paging.read_by_number(fetch, _PAGE)


def _sent_webhook(webhook: Any) -> GatewayDelivery | None:
    """Return a webhook that was sent, or should have been."""
    body, kind = shapes.get(webhook, "body"), shapes.text(webhook, "event")
    if kind not in _EVENTS or not isinstance(body, str):
        return None
    event = GATEWAY.glance(body.encode())
    delivery = make_delivery(body.encode(), shapes.text(event, "id"), shapes.text(event, "event"))
    paid, refunded = shapes.text(event, "payload", "transaction", "id"), shapes.text(event, "payload", "refund_id")
    return replace(delivery, key=f"reconcile:{refunded or paid or delivery.key}")


def _drop_listed(seen: set[str], deliveries: Iterator[GatewayDelivery | None]) -> Iterator[Sequence[GatewayDelivery]]:
    """Yield the deliveries that were not listed before, as one page."""
    page = []
    for delivery in deliveries:
        if delivery is not None and delivery.key not in seen:
            seen.add(delivery.key)
            page.append(delivery)
    if page:
        yield page


def _of_invoice(invoice: Any, since: datetime) -> Iterator[GatewayDelivery]:
    holders = (shapes.text(invoice, name) for name in ("subscription_id", "group_primary_subscription_id"))
    names = {"subscription_id": next(filter(None, holders), None), "invoice_uid": shapes.text(invoice, "uid")}
    for payment in shapes.items(invoice, "payments"):
        paid_id, at = shapes.text(payment, "transaction_id"), shapes.text(payment, "transaction_time")
        if not paid_id or shapes.get(payment, "prepayment") is True:
            continue
        # An invoice that changed lists the old payments too.
        if shapes.is_since(since, partial(maxio_facts.moment, payment, "transaction_time")):
            yield _to_delivery("payment_success", paid_id, {**names, "transaction": {"id": paid_id, "created_at": at}})
    for refund in shapes.items(invoice, "refunds"):
        if refund_id := shapes.text(refund, "transaction_id"):
            yield _to_delivery("refund_success", refund_id, {**names, "refund_id": refund_id})


def _chargeback(event: Any) -> GatewayDelivery:
    payload = {
        "invoice_uid": shapes.text(event, "invoice", "uid"),
        "status": shapes.text(event, "event_data", "chargeback_status"),
        "timestamp": shapes.text(event, "timestamp"),
    }
    return _to_delivery("change_chargeback_status", f"chargeback:{shapes.text(event, 'id')}", payload)


def _changed_field(event: Any) -> GatewayDelivery | None:
    if shapes.text(event, "key") != maxio_facts.CHANGED_FIELD:
        return None
    change = shapes.get(event, "event_specific_data")
    payload = {
        "resource_type": shapes.text(change, "resource_type"),
        "resource_id": shapes.text(change, "resource_id"),
        "timestamp": shapes.text(event, "created_at"),
    }
    return _to_delivery(maxio_facts.CHANGED_FIELD, f"event:{shapes.text(event, 'id')}", payload)


def _to_delivery(kind: str, external_id: str, payload: Any) -> GatewayDelivery:
    return make_listed(external_id, kind, {"event": kind, "payload": payload})
