"""Conversions as a CSV file with the list's filters, streamed in pieces, so that its size does not matter for memory.

Source: core spec, "Conversions" (export.csv) and section 8 "Limits".
"""

import re
from collections.abc import Iterator, Mapping
from uuid import UUID

from flask import Blueprint, Response, request

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body
from api.edge.operations import operation, text
from api.edge.replica.request_reads import PieceReader
from domain.conversions.orders import ConversionOrder
from domain.organization import plans
from domain.text import csv_cells
from models import db
from models.conversions import lists
from models.conversions.lists import ConversionFilters, ExportedConversion
from models.listing import Position
from schemas.conversions.conversion import ExportQuery

blueprint = Blueprint("conversion_export", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_MAX_ROWS = 50_000
_PIECE_ROWS = 1_000
_END = "\r\n"
_TO_QUOTE = re.compile('[,"\r\n]').search
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
    pieces = _generate_csv(organization_id, filters, query["order"], PieceReader())
    answer = Response(pieces, content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = 'attachment; filename="conversions.csv"'
    return answer


def _filters_in_query() -> Mapping[str, object]:
    names = {field.data_key for field in ExportQuery().fields.values()}
    return {name: request.args[name] for name in sorted(request.args) if name in names}


def _generate_csv(
    organization_id: UUID, filters: ConversionFilters, order: ConversionOrder, reader: PieceReader
) -> Iterator[str]:
    yield ",".join(_HEADINGS) + _END
    position: Position | None = None
    left = _MAX_ROWS

    def next_piece() -> lists.Piece | None:
        # One transaction per piece: a slow client keeps no transaction open, and memory holds one piece.
        with db.unit_of_work(organization_id):
            return lists.read_piece(
                organization_id=organization_id,
                filters=filters,
                order=order,
                after=position,
                limit=min(left, _PIECE_ROWS),
            )

    while left > 0:
        piece = reader.read(next_piece)
        if piece is None:
            return
        yield "".join([_line(row) for row in piece.rows])
        position, left = piece.end, left - len(piece.rows)


def _line(row: ExportedConversion) -> str:
    # Text of senders and visitors is escaped; the other columns are the service's own words and numbers.
    return ",".join(
        (
            row.id,
            row.affiliate_id,
            row.program_id,
            row.amount_cents,
            row.currency,
            row.net_commission_cents,
            row.status,
            row.type,
            _text_cell(row.external_event_id),
            row.created_at,
            row.refunded_at,
            row.attribution_method,
            _text_cell(row.coupon_code),
            _text_cell(row.sub_id) + _END,
        )
    )


def _text_cell(text: str) -> str:
    """Return free text as one cell, quoted if necessary."""
    if not text:
        return text
    cell = csv_cells.escape(text)
    return '"' + cell.replace('"', '""') + '"' if _TO_QUOTE(cell) else cell
