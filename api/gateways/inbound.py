"""Receives the events of payment gateways: verifies the raw bytes and stores the event; a worker does the rest."""

from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from flask import Blueprint, Response, request

from adapters import clock
from adapters.gateways import registry
from adapters.gateways.adapter import GatewayAdapter
from adapters.gateways.base import GatewayUnreachable, Inbound, NotProved, ProvedRequest
from api.access.guards import KIB, Guard
from api.edge.operations import operation, text
from api.edge.relay_waker import wake_relay
from domain.refusals import Refused
from models import db
from models.gateways.connections import GatewayConnection
from pipelines.gateways import accounts, receive

blueprint = Blueprint("gateways_inbound", __name__)

_GATEWAY = Guard(audience="public", bucket="s2s", max_body_bytes=1024 * KIB)
_REFUSES = ("401", "404", "503 gateway_unreachable")


@blueprint.get("/api/gateways/<gateway>/<token>")
@operation(_GATEWAY, text("text/plain"), refuses=_REFUSES, samples={"text/plain": "OK"}, writes=True)
def check_gateway_address(gateway: str, token: str) -> Response:
    """Respond to a gateway that checks an address, in its own form of proof; most gateways have none for this: 401."""
    return _take(gateway, token)


@blueprint.post("/api/gateways/<gateway>/<token>")
@operation(_GATEWAY, text("text/plain"), refuses=_REFUSES, samples={"text/plain": "OK"})
def take_gateway_event(gateway: str, token: str) -> Response:
    """Accept an event in the gateway's own form and proof. 200 also for repeated and for irrelevant events.

    401 without a body for an invalid proof, 404 without a body for an unknown address.
    Budget: 1 round trip (event, job and commit), another for an address without a request within KEY_CACHE_S.
    """
    return _take(gateway, token)


def _take(gateway: str, token: str) -> Response:
    now = clock.now()
    adapter = registry.find(gateway)
    if adapter is None:
        raise Refused(404)
    inbound = Inbound(
        method=request.method,
        headers=cast(Mapping[str, str], request.headers),  # case-insensitive, unlike a dict
        query=request.args,
        body=request.get_data(cache=True),
        received_at=now,
    )
    try:
        connection, proved = _prove(adapter, token, inbound)
    except NotProved as error:
        raise Refused(401) from error
    except GatewayUnreachable as error:
        message = f"It could not be checked whether {adapter.label} sent this. Send it again."
        raise Refused(503, "gateway_unreachable", message) from error
    if proved.deliveries:
        with db.unit_of_work(connection.organization_id):
            receive.stage(connection, proved.deliveries, now=now)
        wake_relay()
    return Response(proved.body, status=proved.status, content_type=proved.content_type)


def _prove(adapter: GatewayAdapter, token: str, inbound: Inbound) -> tuple[GatewayConnection, ProvedRequest]:
    """Return the connection of an address and its proved request. Raises NotProved, GatewayUnreachable and Refused 404.

    If the cached credentials do not verify the proof, those in the database are tried.
    """
    connection = receive.find_cached(adapter.name, token)
    if connection is not None:
        with suppress(NotProved):
            return connection, adapter.prove(accounts.open_account(connection, now=inbound.received_at), inbound)
    with db.any_org_work():
        connection = receive.any_org_look_up(adapter.name, token)
    if connection is None:
        raise Refused(404)
    return connection, adapter.prove(accounts.open_account(connection, now=inbound.received_at), inbound)
