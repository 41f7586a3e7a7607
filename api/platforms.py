"""Newsletter and CRM platforms, as people at the dashboard connect them and let them go.

A platform is asked before anything is written, and outside of any transaction.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify

from adapters import clock
from adapters.platforms import registry
from api.access import guards
from api.access.guards import Guard
from api.edge import answers, audit, body, paging, path
from api.edge.operations import array, one, operation, page
from domain.organization import plans
from domain.organization.access import Role
from domain.refused import not_found
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
    """List the platforms that can be connected, with the credentials that each takes."""
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
    """List the platforms that are connected, newest first."""
    asked = paging.wanted(body.query())
    with db.unit_of_work(guards.organization_id()):
        rows = connections.page(organization_id=guards.organization_id(), after=asked.after, limit=asked.limit)
    return paging.envelope(asked, rows, lambda page: [_shown(row) for row in page])


@blueprint.get("/api/v1/platforms/<connection_id>")
@operation(_READ, one(_RECORD), refuses=("404 not_found",))
def get_platform_connection(connection_id: str) -> Mapping[str, object]:
    """Show one connection to a platform."""
    with db.unit_of_work(guards.organization_id()):
        found = connections.find(
            organization_id=guards.organization_id(), connection_id=path.uuid(connection_id, "platform")
        )
    if found is None:
        raise not_found("platform", connection_id)
    return _shown(found)


@blueprint.post("/api/v1/platforms")
@operation(
    _WRITE,
    one(_RECORD),
    status=201,
    takes=PlatformBody(),
    refuses=(*_ASKS_PLATFORM, "400 invalid_request", "409 platform_already_connected"),
)
def connect_platform() -> Response:
    """Connect a platform after it took the credentials. 201 with the connection, which credits sales from now on."""
    wanted = body.load()
    slug_field = connect.check_slug_field(wanted["platform"], wanted["slug_field"])
    repeated = answers.repeated()
    if repeated is not None:
        return repeated
    with db.unit_of_work(guards.organization_id()):
        connect.check_not_connected(organization_id=guards.organization_id(), platform=wanted["platform"])
    proved = connect.check_new(platform=wanted["platform"], values=wanted["credentials"])
    return answers.once(lambda: _store(proved, slug_field))


def _store(proved: CheckedPlatform, slug_field: str | None) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    made = connect.store(proved, organization_id=guards.organization_id(), slug_field=slug_field, now=now)
    record = _shown(made)
    audit.record("platform.created", made.id, after=record, now=now)
    return 201, record


@blueprint.patch("/api/v1/platforms/<connection_id>")
@operation(
    _WRITE,
    one(_RECORD),
    takes=PlatformChanges(),
    refuses=(*_ASKS_PLATFORM, "400 invalid_request", "404 not_found"),
)
def change_platform_connection(connection_id: str) -> Response:
    """Switch crediting on or off, name another custom field, or replace credentials after the platform took them.

    Switching off stops the look-ups that are pending there.
    """
    wanted = dict(body.load())
    repeated = answers.repeated()
    if repeated is not None:
        return repeated
    with db.unit_of_work(guards.organization_id()):
        connection = _locked(connection_id)
    if "slug_field" in wanted:
        wanted["slug_field"] = connect.check_slug_field(connection.platform, wanted["slug_field"])
    proved = connect.check_changes(connection, wanted["credentials"]) if "credentials" in wanted else None
    return answers.once(lambda: _change(connection_id, wanted, proved))


def _change(
    connection_id: str, wanted: Mapping[str, Any], proved: CheckedPlatform | None
) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    before = _locked(connection_id)
    after = connect.change(before, wanted, checked=proved, now=now)
    record = _shown(after)
    audit.record("platform.changed", after.id, before=_shown(before), after=record, now=now)
    return 200, record


@blueprint.post("/api/v1/platforms/<connection_id>/check")
@operation(_WRITE, one(_RECORD), refuses=("404 not_found", "503 platform_unreachable"))
def check_platform_connection(connection_id: str) -> Mapping[str, object]:
    """Ask the platform whether it still takes the credentials. 200 with the connection as it is now."""
    with db.unit_of_work(guards.organization_id()):
        connection = _locked(connection_id)
    word = check.check_credentials(connection)
    with db.unit_of_work(guards.organization_id()):
        after = check.record(connection, word, now=clock.now())
    if after is None:
        raise not_found("platform", connection_id)
    return _shown(after)


@blueprint.delete("/api/v1/platforms/<connection_id>")
@operation(_WRITE, status=204, refuses=("404 not_found",))
def disconnect_platform(connection_id: str) -> Response:
    """Remove a connection with its credentials; look-ups that are pending there stop. 204."""
    with db.unit_of_work(guards.organization_id()):
        before = _locked(connection_id)
        connections.stage_delete(before)
        audit.record("platform.removed", before.id, before=_shown(before), now=clock.now())
    return Response(status=204)


def _locked(connection_id: str) -> PlatformConnection:
    """Return a connection of the caller's organization, locked. Raises Refused 404 not_found."""
    wanted = path.uuid(connection_id, "platform")
    found = connections.lock(organization_id=guards.organization_id(), connection_id=wanted)
    if found is None:
        raise not_found("platform", wanted)
    return found


def _shown(connection: PlatformConnection) -> Mapping[str, Any]:
    shown = {name: getattr(connection, name) for name in _SHOWN} | {
        "slug_field": connect.list_slug_fields(connection)[0]
    }
    record: Mapping[str, Any] = _RECORD.dump(shown)
    return record


_SHOWN = ("id", "platform", "status", "credit_sales", "connected_at", "last_checked_at", "last_error")
