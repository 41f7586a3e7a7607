"""The demo's second brand, which needs no code: its sales come from the simulated gateway.

One campaign that pays 30 % of every payment of a subscription, an affiliate (nora), a key, a webhook endpoint at the
demo receiver, and a live connection. It is a brand of its own, because a connected gateway keeps signed sales out.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

import click

import settings
from adapters import clock
from commands import audit_trail, output
from commands.demo import brand, own_api
from commands.demo.gateway import object_store, server
from commands.demo.gateway.object_store import StripeObjectStore
from domain.refusals import Refused
from models.gateways import connections
from pipelines.gateways import connect

#: The names of its secrets.
SECRETS = ("gatewayApiKey", "gatewayWebhookSecret")
#: The names of its key and its endpoint.
KEY_AND_ENDPOINT = ("gatewayApiKey", "gatewayWebhookEndpointId")

_GATEWAY: Final = "stripe"
_MODE: Final = "live"


def has_second_brand(facts: Mapping[str, str]) -> bool:
    """Return whether the demo has the second brand."""
    return "gatewayOrganizationId" in facts


def create() -> dict[str, str]:
    """Create the brand and return its facts by name; it is not connected yet."""
    organization_id, key = brand.create("Demo Subscriptions", owner_email="owner@subscriptions.example.com")
    terms = {"name": "Subscriptions", "defaultCommissionType": "Percentage", "defaultCommissionValue": 30}
    program = own_api.call(
        "POST", "/api/v1/programs", key.api_key, {**terms, "defaultCommissionModel": "Cps", "autoApprove": True}
    )
    nora = {"email": "nora@example.com", "fullName": "Nora Newsletter", "customAlias": "nora"}
    own_api.call("POST", "/api/v1/affiliates", key.api_key, {"programId": program["id"], **nora})
    facts = {
        "gatewayOrganizationId": str(organization_id),
        "gatewayApiKey": key.api_key,
        "gatewayProgramId": program["id"],
        "gatewayAffiliateSlug": "nora",
    }
    endpoint = own_api.subscribe(key.api_key)
    if endpoint:
        facts |= {"gatewayWebhookEndpointId": endpoint["id"], "gatewayWebhookSecret": endpoint["secret"]}
    return facts


def ensure_connected(facts: Mapping[str, str]) -> None:
    """Connect the brand's gateway, unless it is connected and the gateway has its endpoint. Runs the gateway meanwhile.

    Raises ClickException if the gateway's port is in use.
    """
    data_dir, organization_id = settings.current().servers.data_dir, UUID(facts["gatewayOrganizationId"])
    store = StripeObjectStore(data_dir)
    endpoints = store.list_objects("/v1/webhook_endpoints")
    with output.operator_transaction():
        before = connections.find_in_force(organization_id=organization_id, gateway=_GATEWAY, mode=_MODE)
        if before is not None and _path(connect.event_url_of(before)) in (
            _path(endpoint["url"]) for endpoint in endpoints
        ):
            return
        if before is not None:  # the gateway's objects were lost
            connect.disconnect(before, now=clock.now())
    for endpoint in endpoints:  # of a connection that ended, or of another database
        store.put(f"/v1/webhook_endpoints/{endpoint['id']}", None)
    with server.running(settings.current(), echo=click.echo):
        _connect(organization_id, key=object_store.read_key(data_dir) or "")


def disconnect(facts: Mapping[str, str]) -> None:
    """End the connection, because stripe has another address now: the demo's key must never be sent there."""
    organization_id = UUID(facts["gatewayOrganizationId"])
    with output.operator_transaction():
        before = connections.find_in_force(organization_id=organization_id, gateway=_GATEWAY, mode=_MODE)
        if before is not None:
            connect.disconnect(before, now=clock.now())
            audit_trail.record("connection.removed", {}, about=before.id, organization_id=organization_id)


def _connect(organization_id: UUID, *, key: str) -> None:
    try:
        proved = connect.verify(gateway=_GATEWAY, mode=_MODE, credentials={"apiKey": key})
    except Refused as refusal:
        raise click.ClickException(refusal.message) from refusal
    with output.operator_transaction():
        stored = connect.store(proved, organization_id=organization_id, now=clock.now())
        details = {"gateway": stored.gateway, "mode": stored.mode}
        audit_trail.record("connection.created", details, about=stored.id, organization_id=organization_id)


def _path(url: str) -> str:
    """Return the part of a URL that stays when PORT changes."""
    return urlsplit(url).path
