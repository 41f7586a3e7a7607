"""Affiliates as a CSV file, with the list's filters and order or of chosen ones."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.affiliates import filters
from api.edge import audit, body
from api.edge.operations import operation, text
from api.edge.replica import csv_files
from domain.organization import plans
from models import db
from models.affiliates.listing import exports
from models.affiliates.listing.exports import ExportedAffiliate
from schemas.affiliates.export import AffiliatesExportQuery

blueprint = Blueprint("affiliate_export", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_HEADINGS = tuple(name for name in ExportedAffiliate._fields if name != "position")
# Text that people typed.
_FREE_TEXT = frozenset({"email", "full_name", "program_name", "group_name", "tags"})


@blueprint.get("/api/v1/affiliates/export.csv")
@operation(
    _READ,
    text("text/csv"),
    asks=AffiliatesExportQuery(),
    samples={"text/csv": ",".join(_HEADINGS)},
    may_lag="pieces",
    writes=True,
)
def export_affiliates() -> Response:
    """Export affiliates with their all-time totals as CSV, in the order of the list, up to 50,000 rows."""
    query = body.query()
    organization_id, chosen, selected = guards.organization_id(), query["affiliate_ids"], filters.from_query(query)
    with db.unit_of_work(organization_id):
        audit.record("affiliates.exported", organization_id, after=_audit_values(query), now=clock.now())

    def read(after: Any, limit: int) -> csv_files.FilePiece | None:
        if chosen is not None:
            rows = exports.list_chosen(organization_id=organization_id, affiliate_ids=chosen) if after is None else []
        else:
            rows = exports.read_piece(
                organization_id=organization_id, filters=selected, order=query["sort"], after=after, limit=limit
            )
        return csv_files.FilePiece([_line(row) for row in rows], (rows[-1].position, rows[-1].id)) if rows else None

    return csv_files.stream("affiliates.csv", _HEADINGS, organization_id, read)


def _audit_values(query: Mapping[str, Any]) -> Mapping[str, object]:
    values = {name: str(query[name]) for name in ("program_id", "status", "q", "no_sales_for_days") if query[name]}
    return {"filters": values | ({"affiliateIds": len(query["affiliate_ids"])} if query["affiliate_ids"] else {})}


def _line(row: ExportedAffiliate) -> tuple[str, ...]:
    values = row._asdict()
    return tuple(csv_files.text_cell(values[name]) if name in _FREE_TEXT else values[name] for name in _HEADINGS)
