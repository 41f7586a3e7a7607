"""recurly: what it sends names an object and no money; invoices, transactions and subscriptions are always read.

Only JSON notifications are signed; the ones in XML prove nothing and are refused.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from adapters.gateways import events, proofs, shapes
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    Inbound,
    Known,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.billing import recurly_facts
from adapters.gateways.wire import GatewayWire, Params, basic, dumped
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact

_HOSTS = {"us": "https://v3.recurly.com", "eu": "https://v3.eu.recurly.com"}
_VERSION = {"Accept": "application/vnd.recurly.v2021-02-25+json"}
_PAGE = 200
_MADE_OF = ("object_type", "event_type", "id", "uuid", "invoice_number", "event_time")
_BY_HAND = (
    "Open Integrations, Webhooks, and add an endpoint for the address below; choose JSON, not XML.",
    "Let it send charge invoices, payments, subscriptions and accounts (or everything).",
    "Copy the endpoint's secret key into this connection as webhookSecret.",
)


class Recurly:
    """The adapter; it has no state."""

    name = "recurly"
    label = "Recurly"
    kind = "subscription"
    fields = (
        CredentialField("apiKey", "Private API key", "Integrations, API credentials"),
        CredentialField("webhookSecret", "Endpoint secret key", "Integrations, Webhooks", required=False),
        CredentialField("region", "Region", "us (default) or eu: where your site's data is", False, required=False),
    )
    capabilities = Capabilities(coupons=True, trials=True, disputes=(DisputeState.Lost,))
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Read the site of the key."""
        sites = shapes.items(api(account).get("/sites"), "data")
        if not sites:
            raise CredentialsRefused("the key is of no site")
        name = shapes.text(sites[0], "subdomain") or shapes.needed(sites[0], "id")
        modes = {"production": True, "development": False, "sandbox": False}
        site_id = shapes.identity(sites[0], "id") or name
        return Known(name, modes.get(shapes.text(sites[0], "mode") or ""), (site_id,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Say how to make the endpoint: the API cannot."""
        return Subscribed(setup=events.by_hand(address, _BY_HAND))

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Nothing was made there."""

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check `recurly-signature`: milliseconds and any number of digests, five minutes either way."""
        at, *digests = (part.strip() for part in request.headers.get("recurly-signature", "").split(","))
        proofs.require_recent(at, request.received_at.timestamp(), unit_s=0.001)
        signed = at.encode() + b"." + request.body
        expected = (proofs.hex_digest(secret.encode(), signed) for secret in account.secrets("webhookSecret"))
        proofs.require_match(digests, expected)
        return ProvedRequest((_delivery(request.body),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Read the object that a notification names, and translate it."""
        return recurly_facts.read(api(account), events.kept(delivery.raw))

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return it as it is: account and subscription were read for it already."""
        return origin

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the paid invoices that changed since then, and the transactions that gave money back."""
        wire = api(account)
        params: dict[str, str | int] = {
            "sort": "updated_at",
            "order": "asc",
            "begin_time": shapes.utc(since),
            "limit": _PAGE,
        }
        for page in _pages(wire, "/invoices", {"type": "charge", "state": "paid", **params}):
            # Whatever else happens to an old invoice changes it too.
            paid = [item for item in page if shapes.is_since(since, partial(shapes.moment, item, "closed_at"))]
            if paid:
                yield [_listed("charge_invoice", "paid", item, "") for item in paid]
        for page in _pages(wire, "/transactions", params):
            if found := [delivery for item in page if (delivery := _given_back(item))]:
                yield found


GATEWAY = Recurly()


def api(account: GatewayAccount) -> GatewayWire:
    host = _HOSTS.get((account.credentials.get("region") or "us").strip().lower())
    if host is None:
        raise CredentialsRefused("the region is us or eu")
    return GatewayWire("recurly", host, {**basic(account.credentials.get("apiKey", "")), **_VERSION})


def _delivery(body: bytes) -> GatewayDelivery:
    told = events.glance(body)
    # The id is the object's and comes again with everything that happens to it.
    parts = {name: shapes.text(told, name) for name in _MADE_OF}
    is_whole = all(parts[name] for name in ("object_type", "event_type", "id", "event_time"))
    key = ":".join(part for part in parts.values() if part) if is_whole else proofs.fingerprint(body)
    kind = f"{parts['object_type']}.{parts['event_type']}" if is_whole else "unreadable"
    return GatewayDelivery(key, kind, body, parts["id"])


def _pages(wire: GatewayWire, path: str, params: Params | None) -> Iterator[Sequence[Any]]:
    while True:
        page = wire.get(path, params)
        if found := shapes.items(page, "data"):
            yield found
        following = shapes.at(page, "next")
        if shapes.at(page, "has_more") is not True or not isinstance(following, str):
            return
        parts = urlsplit(following)  # its path and query say all; the host stays ours
        path, params = f"/{parts.path.lstrip('/')}?{parts.query}", None


def _given_back(transaction: Any) -> GatewayDelivery | None:
    """Return a refund, a void or a chargeback as the notification of it."""
    status = shapes.text(transaction, "status")
    if shapes.text(transaction, "type") == "refund":
        return _listed("payment", "refunded", transaction, "") if status == "success" else None
    # A payment that is void or charged back has been told under its own id before.
    return _listed("payment", str(status), transaction, f":{status}") if status in recurly_facts.TAKEN_BACK else None


def _listed(object_type: str, event_type: str, item: Any, suffix: str) -> GatewayDelivery:
    told_id = shapes.needed(item, "id")
    times = (shapes.text(item, name) for name in ("closed_at", "updated_at", "created_at"))
    told = {
        "object_type": object_type,
        "event_type": event_type,
        "id": told_id,
        "uuid": shapes.identity(item, "uuid"),
        "invoice_number": shapes.identity(item, "number"),
        "event_time": next(filter(None, times), None),
    }
    return GatewayDelivery(f"reconcile:{told_id}{suffix}", f"{object_type}.{event_type}", dumped(told), told_id)
