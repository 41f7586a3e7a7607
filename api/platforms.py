"""Connections to newsletter and CRM platforms, as dashboard users add and remove them.

The platform is called before anything is written, and outside of any transaction.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify

from adapters import clock
from adapters.platforms import registry
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import array, object_of, operation, page
from domain.organization import plans
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.platforms import connections
from models.platforms.connections import PlatformConnection
from pipelines.platforms import check, connect
from pipelines.platforms.connect import CheckedPlatform
from schemas.paging import PageQuery
from schemas.platforms import PlatformBody, PlatformChanges, PlatformConnectionRecord, PlatformRecord

blueprint = Blueprint("platforms", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_WRITE = Guard(audience="dashboard", scope="read_write", role=Role.Admin, verified_email=True)

_RECORD = PlatformConnectionRecord()
_PLATFORM = PlatformRecord()
_ASKS_PLATFORM = ("422 platform_credentials_refused", "503 platform_unreachable")


@blueprint.get("/api/v1/platforms/catalogue")
@operation(_READ, array(_PLATFORM))
def list_platforms() -> Response:
    """List the platforms that can be connected, with the credentials that each requires."""
    adapters = registry.all_of_them()
    return jsonify(
        [
            _PLATFORM.dump(
                {
                    "name": adapter.name,
                    "label": adapter.label,
                    "slug_field": adapter.slugs.fields[0],
                    "fields": adapter.fields,
                }
            )
            for adapter in adapters
        ]
    )


@blueprint.get("/api/v1/platforms")
@operation(_READ, page(_RECORD), asks=PageQuery())
def list_platform_connections() -> Mapping[str, object]:
    """List the connected platforms, newest first."""
    page_request = paging.read_page_request(body.query())
    with db.unit_of_work(guards.organization_id()):
        rows = connections.page(organization_id=guards.organization_id(), **page_request.window)
    return paging.serialize_page(page_request, rows, lambda page: [_serialize(row) for row in page])


@blueprint.get("/api/v1/platforms/<connection_id>")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_platform_connection(connection_id: str) -> Mapping[str, object]:
    """Show one connection to a platform."""
    with db.unit_of_work(guards.organization_id()):
        connection = connections.find(
            organization_id=guards.organization_id(), connection_id=path.uuid(connection_id, "platform")
        )
    if connection is None:
        raise not_found("platform", connection_id)
    return _serialize(connection)


@blueprint.post("/api/v1/platforms")
@operation(
    _WRITE,
    object_of(_RECORD),
    status=201,
    takes=PlatformBody(),
    refuses=(*_ASKS_PLATFORM, "400 invalid_request", "409 platform_already_connected"),
)
def connect_platform() -> Response:
    """Connect a platform if it accepts the credentials. 201 with the connection, which credits sales from now on."""
    requested = body.load()
    slug_field = connect.check_slug_field(requested["platform"], requested["slug_field"])
    replay = idempotency.find_replay()
    if replay is not None:
        return replay
    with db.unit_of_work(guards.organization_id()):
        connect.check_not_connected(organization_id=guards.organization_id(), platform=requested["platform"])
    proved = connect.check_new(platform=requested["platform"], values=requested["credentials"])
    return idempotency.run_once(lambda: _store(proved, slug_field))


def _store(proved: CheckedPlatform, slug_field: str | None) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    connection = connect.store(proved, organization_id=guards.organization_id(), slug_field=slug_field, now=now)
    record = _serialize(connection)
    audit.record("platform.created", connection.id, after=record, now=now)
    return 201, record


@blueprint.patch("/api/v1/platforms/<connection_id>")
@operation(
    _WRITE,
    object_of(_RECORD),
    takes=PlatformChanges(),
    refuses=(*_ASKS_PLATFORM, "400 invalid_request", "404 not_found"),
)
def change_platform_connection(connection_id: str) -> Response:
    """Switch crediting on or off, set another custom field, or replace credentials if the platform accepts them.

    Switching off cancels the pending pending look-ups at the platform.
    """
    changes = dict(body.load())
    replay = idempotency.find_replay()
    if replay is not None:
        return replay
    with db.unit_of_work(guards.organization_id()):
        connection = _lock(connection_id)
    if "slug_field" in changes:
        changes["slug_field"] = connect.check_slug_field(connection.platform, changes["slug_field"])
    proved = connect.check_changes(connection, changes["credentials"]) if "credentials" in changes else None
    return idempotency.run_once(lambda: _change(connection_id, changes, proved))


def _change(
    connection_id: str, changes: Mapping[str, Any], proved: CheckedPlatform | None
) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    before = _lock(connection_id)
    after = connect.change(before, changes, checked=proved, now=now)
    record = _serialize(after)
    audit.record("platform.changed", after.id, before=_serialize(before), after=record, now=now)
    return 200, record


@blueprint.post("/api/v1/platforms/<connection_id>/check")
@operation(_WRITE, object_of(_RECORD), refuses=("404 not_found", "503 platform_unreachable"))
def check_platform_connection(connection_id: str) -> Mapping[str, object]:
    """Check whether the platform still accepts the credentials. 200 with the connection's current state."""
    with db.unit_of_work(guards.organization_id()):
        connection = _lock(connection_id)
    result = check.check_credentials(connection)
    with db.unit_of_work(guards.organization_id()):
        after = check.record(connection, result, now=clock.now())
    if after is None:
        raise not_found("platform", connection_id)
    return _serialize(after)


@blueprint.delete("/api/v1/platforms/<connection_id>")
@operation(_WRITE, status=204, refuses=("404 not_found",))
def disconnect_platform(connection_id: str) -> Response:
    """Remove a connection with its credentials and cancel its pending look-ups. 204."""
    with db.unit_of_work(guards.organization_id()):
        before = _lock(connection_id)
        connections.stage_delete(before)
        audit.record("platform.removed", before.id, before=_serialize(before), now=clock.now())
    return Response(status=204)


def _lock(connection_id: str) -> PlatformConnection:
    """Lock a connection of the caller's organization and return it. Raises Refused 404 not_found."""
    wanted_id = path.uuid(connection_id, "platform")
    connection = connections.lock(organization_id=guards.organization_id(), connection_id=wanted_id)
    if connection is None:
        raise not_found("platform", wanted_id)
    return connection


def _serialize(connection: PlatformConnection) -> Mapping[str, Any]:
    values = {name: getattr(connection, name) for name in _FIELDS} | {
        "slug_field": connect.list_slug_fields(connection)[0]
    }
    return _RECORD.dump(values)


_FIELDS = ("id", "platform", "status", "credit_sales", "connected_at", "last_checked_at", "last_error")
