"""The demo's second brand, which writes no line of code: its sales come from the gateway that is played.

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
from commands import output, trail
from commands.demo import brand, own_api
from commands.demo.gateway import books, player
from commands.demo.gateway.books import StripeBooks
from domain.refusals import Refused
from models.gateways import connections
from pipelines.gateways import connect

#: What of its facts opens something.
SECRETS = ("gatewayApiKey", "gatewayWebhookSecret")
#: Its key and its endpoint.
SUBSCRIBED = ("gatewayApiKey", "gatewayWebhookEndpointId")

_GATEWAY: Final = "stripe"
_MODE: Final = "live"


def is_in(made: Mapping[str, str]) -> bool:
    """Say whether the demo has the second brand."""
    return "gatewayOrganizationId" in made


def make() -> dict[str, str]:
    """Make the brand and return its facts by name; it is not connected yet."""
    organization_id, key = brand.make("Demo Subscriptions", owner_email="owner@subscriptions.example.com")
    terms = {"name": "Subscriptions", "defaultCommissionType": "Percentage", "defaultCommissionValue": 30}
    program = own_api.call(
        "POST", "/api/v1/programs", key.api_key, {**terms, "defaultCommissionModel": "Cps", "autoApprove": True}
    )
    nora = {"email": "nora@example.com", "fullName": "Nora Newsletter", "customAlias": "nora"}
    own_api.call("POST", "/api/v1/affiliates", key.api_key, {"programId": program["id"], **nora})
    made = {
        "gatewayOrganizationId": str(organization_id),
        "gatewayApiKey": key.api_key,
        "gatewayProgramId": program["id"],
        "gatewayAffiliateSlug": "nora",
    }
    endpoint = own_api.subscribe(key.api_key)
    if endpoint:
        made |= {"gatewayWebhookEndpointId": endpoint["id"], "gatewayWebhookSecret": endpoint["secret"]}
    return made


def keep_connected(made: Mapping[str, str]) -> None:
    """Connect the brand's gateway, unless it is connected and the gateway knows it. Plays the gateway meanwhile.

    Raises ClickException where the gateway's port is not free.
    """
    data_dir, organization_id = settings.current().servers.data_dir, UUID(made["gatewayOrganizationId"])
    kept = StripeBooks(data_dir)
    endpoints = kept.of("/v1/webhook_endpoints")
    with output.every_tenant():
        before = connections.find_in_force(organization_id=organization_id, gateway=_GATEWAY, mode=_MODE)
        if before is not None and _path(connect.event_url_of(before)) in (_path(one["url"]) for one in endpoints):
            return
        if before is not None:  # the gateway's books were lost
            connect.disconnect(before, now=clock.now())
    for endpoint in endpoints:  # of a connection that ended, or of another database
        kept.put(f"/v1/webhook_endpoints/{endpoint['id']}", None)
    with player.playing(settings.current(), say=click.echo):
        _connect(organization_id, key=books.key(data_dir) or "")


def disconnect(made: Mapping[str, str]) -> None:
    """End the connection where stripe is somewhere else now, so that nobody asks there with the demo's key."""
    organization_id = UUID(made["gatewayOrganizationId"])
    with output.every_tenant():
        before = connections.find_in_force(organization_id=organization_id, gateway=_GATEWAY, mode=_MODE)
        if before is not None:
            connect.disconnect(before, now=clock.now())
            trail.record("connection.removed", {}, about=before.id, organization_id=organization_id)


def _connect(organization_id: UUID, *, key: str) -> None:
    try:
        proved = connect.verify(gateway=_GATEWAY, mode=_MODE, credentials={"apiKey": key})
    except Refused as refusal:
        raise click.ClickException(refusal.message) from refusal
    with output.every_tenant():
        stored = connect.store(proved, organization_id=organization_id, now=clock.now())
        told = {"gateway": stored.gateway, "mode": stored.mode}
        trail.record("connection.created", told, about=stored.id, organization_id=organization_id)


def _path(url: str) -> str:
    """Return what of an address stays when PORT changes."""
    return urlsplit(url).path
