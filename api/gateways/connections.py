"""Connections to payment gateways: people at the dashboard create and end them.

The gateway is called before anything is written, and outside of any transaction.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, jsonify

from adapters import clock
from adapters.gateways import registry
from adapters.gateways.base import Setup
from api.access import callers, guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import array, object_of, operation, page
from api.edge.relay_waker import wake_relay
from domain.gateways.states import ConnectionStatus
from domain.organization import plans
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.gateways import connections, web_pixels
from models.gateways.connections import GatewayConnection
from models.gateways.web_pixels import WebPixel
from pipelines.gateways import accounts, check, connect, receive, web_pixel
from schemas.gateways.connection import (
    ConnectionBody,
    ConnectionChanges,
    GatewayConnectionRecord,
    GatewayRecord,
    NewGatewayConnection,
)
from schemas.paging import PageQuery

blueprint = Blueprint("connections", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_WRITE = Guard(audience="dashboard", scope="read_write", role=Role.Admin, verified_email=True)

_RECORD = GatewayConnectionRecord()
_NEW = NewGatewayConnection()
_GATEWAY = GatewayRecord()
_ASKS_GATEWAY = ("422 gateway_credentials_refused", "503 gateway_unreachable")


@blueprint.get("/api/v1/connections/gateways")
@operation(_READ, array(_GATEWAY))
def list_gateways() -> Response:
    """List the payment gateways that can be connected, with the credentials that each takes."""
    return jsonify([_GATEWAY.dump(gateway) for gateway in registry.all_of_them()])


@blueprint.get("/api/v1/connections")
@operation(_READ, page(_RECORD), asks=PageQuery(), shows_secret=True)
def list_connections() -> Mapping[str, object]:
    """List the connections, including ended ones, newest first."""
    page_request = paging.read_page_request(body.query())
    with db.unit_of_work(guards.organization_id()):
        rows = connections.page(organization_id=guards.organization_id(), **page_request.window)
        pixels = _find_pixels(rows)
    return paging.serialize_page(
        page_request, rows, lambda page: [_serialize_with_pixel(row, pixels.get(row.id)) for row in page]
    )


@blueprint.get("/api/v1/connections/<connection_id>")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",), shows_secret=True)
def get_connection(connection_id: str) -> Mapping[str, object]:
    """Show one connection."""
    with db.unit_of_work(guards.organization_id()):
        return serialize(find(connection_id))


@blueprint.post("/api/v1/connections")
@operation(
    _WRITE,
    object_of(_NEW),
    status=201,
    takes=ConnectionBody(),
    refuses=(*_ASKS_GATEWAY, "400 invalid_request", "400 unknown_gateway", "409 gateway_already_connected"),
    shows_secret=True,
)
def connect_gateway() -> Response:
    """Connect a gateway after it accepted the credentials. 201 with the connection and the remaining steps there.

    While a connection is active in live mode, the response to signed sales and leads is 409.
    """
    values = body.load()
    repeated = idempotency.find_replay()
    if repeated is not None:
        return repeated
    with db.unit_of_work(guards.organization_id()):
        connect.check_not_connected(
            organization_id=guards.organization_id(), gateway=values["gateway"], mode=values["mode"]
        )
    proved = connect.verify(**values)
    written: list[bool] = []

    def write() -> idempotency.Answer:
        answer = _store(proved)
        written.append(True)
        return answer

    try:
        return idempotency.run_once(write)
    finally:
        if not written:  # another connection exists, or a concurrent copy of this request has connected
            connect.undo_subscription(proved)
        callers.clear_cache()


def _store(proved: connect.VerifiedConnection) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    connection = connect.store(proved, organization_id=guards.organization_id(), now=now)
    record = serialize(connection)
    audit.record("connection.created", connection.id, after=_audit_values(record), now=now)
    return 201, {**record, "setup": _setup(proved.setup)}


@blueprint.patch("/api/v1/connections/<connection_id>")
@operation(
    _WRITE,
    object_of(_NEW),
    takes=ConnectionChanges(),
    refuses=(*_ASKS_GATEWAY, "400 invalid_request", "404 not_found"),
    shows_secret=True,
)
def change_connection(connection_id: str) -> Response:
    """Replace credentials after the gateway accepted the new ones. The old ones prove events for one more hour."""
    now, credentials = clock.now(), body.load()["credentials"]
    repeated = idempotency.find_replay()
    if repeated is not None:
        return repeated
    with db.unit_of_work(guards.organization_id()):
        connection = lock_active(connection_id)
    old_account = accounts.open_account(connection, now=now)
    tried = connect.verify_changes(connection, credentials, now=now)
    answer = idempotency.run_once(lambda: _rotate(connection_id, tried))
    wake_relay()
    if tried.made is not None:
        connect.unsubscribe_replaced(connection, old_account, made=tried.made)
    return answer


def _rotate(connection_id: str, tried: connect.VerifiedCredentials) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    before = lock_active(connection_id)
    after = connect.rotate(before, tried, now=now)
    record = serialize(after)
    audit.record(
        "connection.changed", after.id, before=_audit_values(serialize(before)), after=_audit_values(record), now=now
    )
    return 200, {**record, "setup": _setup(tried.setup)}


@blueprint.post("/api/v1/connections/<connection_id>/check")
@operation(_WRITE, object_of(_RECORD), refuses=(*_ASKS_GATEWAY, "404 not_found"), shows_secret=True)
def check_connection(connection_id: str) -> Mapping[str, object]:
    """Check whether the gateway still accepts the credentials. 200 with the current connection."""
    now = clock.now()
    with db.unit_of_work(guards.organization_id()):
        connection = lock_active(connection_id)
    result = check.check_credentials(connection, now=now)
    with db.unit_of_work(guards.organization_id()):
        return serialize(check.record(connection, result, now=clock.now()))


@blueprint.delete("/api/v1/connections/<connection_id>")
@operation(_WRITE, status=204, refuses=("404 not_found",))
def disconnect_gateway(connection_id: str) -> Response:
    """End a connection: its address stops working, its credentials are deleted, signed sales work again. 204."""
    now = clock.now()
    with db.unit_of_work(guards.organization_id()):
        before = lock_active(connection_id)
        account = accounts.open_account(before, now=now)
        connect.disconnect(before, now=now)
        audit.record("connection.removed", before.id, before=_audit_values(serialize(before)), now=now)
    callers.clear_cache()
    receive.clear_cache()
    connect.unsubscribe(before, account)
    return Response(status=204)


def find(connection_id: str) -> GatewayConnection:
    """Return a connection of the caller's organization. Raises Refused 404 not_found."""
    id = path.uuid(connection_id, "connection")
    connection = connections.find(organization_id=guards.organization_id(), connection_id=id)
    if connection is None:
        raise not_found("connection", id)
    return connection


def lock_active(connection_id: str) -> GatewayConnection:
    """Lock and return an active connection of the caller's organization. Raises Refused 404 not_found."""
    connection = connections.lock(
        organization_id=guards.organization_id(), connection_id=path.uuid(connection_id, "connection")
    )
    if connection is None or connection.status == ConnectionStatus.Disconnected:
        raise not_found("connection", connection_id)
    return connection


def serialize(connection: GatewayConnection) -> Mapping[str, Any]:
    """Return a connection as JSON. Budget: none; 1 statement for a store with a web pixel."""
    return _serialize_with_pixel(connection, _find_pixels([connection]).get(connection.id))


def _find_pixels(rows: Sequence[GatewayConnection]) -> Mapping[UUID, WebPixel]:
    with_pixel = [row for row in rows if web_pixel.has_pixel(row) and row.status != ConnectionStatus.Disconnected]
    ids = [row.id for row in with_pixel]
    return web_pixels.find_by_connections(organization_id=guards.organization_id(), connection_ids=ids)


def _serialize_with_pixel(connection: GatewayConnection, pixel: WebPixel | None) -> Mapping[str, Any]:
    record: Mapping[str, Any] = _RECORD.dump(
        {
            **{name: getattr(connection, name) for name in GatewayConnection.__dataclass_fields__},
            "webhook_url": connect.event_url_of(connection),
            "capabilities": registry.get(connection.gateway).capabilities,
            "last_error": connection.last_error or (pixel.error if pixel else None),
            "web_pixel": {"status": pixel.state, "public_key": pixel.public_key, "error": pixel.error}
            if pixel
            else None,
        }
    )
    return record


def _audit_values(record: Mapping[str, Any]) -> Mapping[str, Any]:
    # The address is a secret itself: any caller who knows it can send to it.
    return {name: value for name, value in record.items() if name != "webhookUrl"}


def _setup(setup: Setup) -> Mapping[str, object]:
    values = [{"name": name, "value": value} for name, value in setup.values]
    return {"steps": list(setup.steps), "values": values}
