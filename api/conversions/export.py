"""Conversions as a CSV file with the list's filters, streamed in pieces, so that its size does not matter for memory.

Source: core spec, "Conversions" (export.csv) and section 8 "Limits".
"""

from collections.abc import Mapping

from flask import Blueprint, Response, request

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body
from api.edge.operations import operation, text
from api.edge.replica import csv_files
from domain.organization import plans
from models import db
from models.conversions import lists
from models.conversions.lists import ConversionFilters, ExportedConversion
from models.listing import Position
from schemas.conversions.conversion import ExportQuery

blueprint = Blueprint("conversion_export", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_HEADINGS = (
    "id",
    "affiliate_id",
    "program_id",
    "amount_cents",
    "currency",
    "commission_cents",
    "status",
    "type",
    "external_event_id",
    "created_at",
    "refunded_at",
    "attribution_method",
    "coupon_code",
    "sub_id",
)


@blueprint.get("/api/v1/conversions/export.csv")
@operation(
    _READ,
    text("text/csv"),
    asks=ExportQuery(),
    samples={"text/csv": ",".join(_HEADINGS)},
    may_lag="pieces",
    writes=True,
)
def export_conversions() -> Response:
    """Export conversions as CSV, newest first unless `order` says otherwise, up to 50,000 rows."""
    query = body.query()
    filters = ConversionFilters(**query["filters"])
    organization_id = guards.organization_id()
    with db.unit_of_work(organization_id):
        audit.record("conversions.exported", organization_id, after={"filters": _filters_in_query()}, now=clock.now())

    def read(after: Position | None, limit: int) -> csv_files.FilePiece | None:
        piece = lists.read_piece(
            organization_id=organization_id, filters=filters, order=query["order"], after=after, limit=limit
        )
        return csv_files.FilePiece([_line(row) for row in piece.rows], piece.end) if piece else None

    return csv_files.stream("conversions.csv", _HEADINGS, organization_id, read)


def _filters_in_query() -> Mapping[str, object]:
    names = {field.data_key for field in ExportQuery().fields.values()}
    return {name: request.args[name] for name in sorted(request.args) if name in names}


def _line(row: ExportedConversion) -> tuple[str, ...]:
    # Text of senders and visitors is escaped; the other columns are the service's own words and numbers.
    return (
        row.id,
        row.affiliate_id,
        row.program_id,
        row.amount_cents,
        row.currency,
        row.net_commission_cents,
        row.status,
        row.type,
        csv_files.text_cell(row.external_event_id),
        row.created_at,
        row.refunded_at,
        row.attribution_method,
        csv_files.text_cell(row.coupon_code),
        csv_files.text_cell(row.sub_id),
    )
