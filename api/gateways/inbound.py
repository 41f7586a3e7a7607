"""Where payment gateways send their events: proved by its raw bytes, kept, and answered; a worker does the rest."""

from collections.abc import Mapping
from typing import cast

from flask import Blueprint, Response, request

from adapters import clock
from adapters.gateways import registry
from adapters.gateways.base import GatewayUnreachable, Inbound, NotProved
from api.access.guards import KIB, Guard
from api.edge.operations import operation, text
from api.edge.wake import wake_relay
from domain.refused import Refused
from models import db
from models.gateways import connections
from pipelines.gateways import accounts, connect, receive

blueprint = Blueprint("gateways_inbound", __name__)

_GATEWAY = Guard(audience="public", bucket="s2s", max_body_bytes=1024 * KIB)
_REFUSES = ("401", "404", "503 gateway_unreachable")


@blueprint.get("/api/gateways/<gateway>/<token>")
@operation(_GATEWAY, text("text/plain"), refuses=_REFUSES)
def check_gateway_address(gateway: str, token: str) -> Response:
    """Answer a gateway that looks whether an address is there, by its own proof; most prove nothing by this: 401."""
    return _take(gateway, token)


@blueprint.post("/api/gateways/<gateway>/<token>")
@operation(_GATEWAY, text("text/plain"), refuses=_REFUSES)
def take_gateway_event(gateway: str, token: str) -> Response:
    """Take an event in the gateway's own form and proof. 200 also for what came before and for what means nothing.

    401 without a body for a proof that does not hold, 404 without a body for an address that nobody has.
    Budget: 3 round trips (whose address; event and job; commit).
    """
    return _take(gateway, token)


def _take(gateway: str, token: str) -> Response:
    now = clock.now()
    adapter = registry.find(gateway)
    with db.any_org_work():
        connection = connections.any_org_by_token(token_hash=connect.token_hash(token), gateway=gateway)
    if adapter is None or connection is None:
        raise Refused(404)
    inbound = Inbound(
        method=request.method,
        headers=cast(Mapping[str, str], request.headers),  # found by any case, as a dict's are not
        query=request.args,
        body=request.get_data(cache=True),
        received_at=now,
    )
    try:
        proved = adapter.prove(accounts.of(connection, now=now), inbound)
    except NotProved as error:
        raise Refused(401) from error
    except GatewayUnreachable as error:
        message = f"Whether {adapter.label} sent this cannot be found out now; send it again."
        raise Refused(503, "gateway_unreachable", message) from error
    if proved.deliveries:
        with db.unit_of_work(connection.organization_id):
            receive.take(connection, proved.deliveries, now=now)
        wake_relay()
    return Response(proved.body, status=proved.status, content_type=proved.content_type)
