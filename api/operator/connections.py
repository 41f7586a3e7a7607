"""Connections of every organization to gateways and platforms, those with problems first."""

from flask import Blueprint, Response, jsonify

from api.edge import body
from api.edge.operations import array, operation
from api.operator.operator_guards import READ
from models import db
from models.gateways import admin_queries
from models.gateways.admin_queries import ConnectionRow
from models.platforms import admin_queries as platform_queries
from models.platforms.admin_queries import PlatformRow
from schemas.operator.tenants import OperatorConnectionRecord, TroublesQuery

blueprint = Blueprint("operator_connections", __name__)

_RECORD = OperatorConnectionRecord()
_MAX_ROWS = 100


@blueprint.get("/api/operator/connections")
@operation(READ, array(_RECORD), asks=TroublesQuery())
def list_troubled_connections() -> Response:
    """List connections with refused credentials or waiting events: up to 100 of gateways, then up to 100 of platforms.

    Budget: 2 round trips.
    """
    only_troubled = body.query()["troubled"]
    with db.any_org_work():
        gateways = admin_queries.any_org_list_connections(only_troubled=only_troubled, limit=_MAX_ROWS)
        platforms = platform_queries.any_org_list_connections(only_troubled=only_troubled, limit=_MAX_ROWS)
    records = [*map(_gateway_row, gateways), *map(_platform_row, platforms)]
    return jsonify(_RECORD.dump(records, many=True))


def _gateway_row(row: ConnectionRow) -> dict[str, object]:
    counts = {name: getattr(row, name) for name in ("waiting", "parked", "failed")}
    return _common_fields(row) | counts | {"kind": "gateway", "name": row.gateway}


def _platform_row(row: PlatformRow) -> dict[str, object]:
    return _common_fields(row) | {
        "kind": "platform",
        "name": row.platform,
        "waiting": row.waiting,
        "parked": 0,
        "failed": 0,
    }


def _common_fields(row: ConnectionRow | PlatformRow) -> dict[str, object]:
    names = ("id", "organization_id", "organization", "status", "last_error", "last_checked_at")
    return {name: getattr(row, name) for name in names}
