"""Where payment gateways send their events: proved by its raw bytes, kept, and answered; a worker does the rest."""

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
    """Answer a gateway that looks whether an address is there, by its own proof; most prove nothing by this: 401."""
    return _take(gateway, token)


@blueprint.post("/api/gateways/<gateway>/<token>")
@operation(_GATEWAY, text("text/plain"), refuses=_REFUSES, samples={"text/plain": "OK"})
def take_gateway_event(gateway: str, token: str) -> Response:
    """Take an event in the gateway's own form and proof. 200 also for what came before and for what means nothing.

    401 without a body for a proof that does not hold, 404 without a body for an address that nobody has.
    Budget: 1 round trip (event, job and commit), another for an address that was not asked for within KEY_CACHE_S.
    """
    return _take(gateway, token)


def _take(gateway: str, token: str) -> Response:
    now = clock.now()
    adapter = registry.find(gateway)
    if adapter is None:
        raise Refused(404)
    inbound = Inbound(
        method=request.method,
        headers=cast(Mapping[str, str], request.headers),  # found by any case, as a dict's are not
        query=request.args,
        body=request.get_data(cache=True),
        received_at=now,
    )
    try:
        connection, proved = _proved(adapter, token, inbound)
    except NotProved as error:
        raise Refused(401) from error
    except GatewayUnreachable as error:
        message = f"Whether {adapter.label} sent this cannot be found out now; send it again."
        raise Refused(503, "gateway_unreachable", message) from error
    if proved.deliveries:
        with db.unit_of_work(connection.organization_id):
            receive.stage(connection, proved.deliveries, now=now)
        wake_relay()
    return Response(proved.body, status=proved.status, content_type=proved.content_type)


def _proved(adapter: GatewayAdapter, token: str, inbound: Inbound) -> tuple[GatewayConnection, ProvedRequest]:
    """Return whose address it is and what the request brings. Raises NotProved, GatewayUnreachable and Refused 404.

    A proof by credentials that are newer than what is remembered is tried again on those in the database.
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
