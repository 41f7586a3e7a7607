"""Payouts as a CSV file, with the list's filters and order."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, request

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body
from api.edge.operations import operation, text
from api.edge.replica import csv_files
from api.payouts.payouts import filters_from_query
from domain.organization import plans
from domain.payouts import orders
from domain.payouts.orders import PayoutOrder
from models import db
from models.payouts import lists
from models.payouts.lists import ListedPayout
from schemas.payouts.payout import PayoutsExportQuery

blueprint = Blueprint("payout_export", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_HEADINGS = (
    "id",
    "run_id",
    "affiliate_id",
    "affiliate_name",
    "affiliate_email",
    "amount_cents",
    "currency",
    "method",
    "status",
    "created_at",
    "paid_at",
    "voided_at",
    "external_transaction_id",
    "failure_reason",
)
_TIME = "%Y-%m-%dT%H:%M:%SZ"
# Text that people or other services wrote.
_FREE_TEXT = frozenset({"affiliate_name", "affiliate_email", "external_transaction_id", "failure_reason"})


@blueprint.get("/api/v1/payouts/export.csv")
@operation(
    _READ,
    text("text/csv"),
    asks=PayoutsExportQuery(),
    samples={"text/csv": ",".join(_HEADINGS)},
    may_lag="pieces",
    writes=True,
)
def export_payouts() -> Response:
    """Export payouts as CSV, newest first unless `sort` says otherwise, up to 50,000 rows."""
    query = body.query()
    organization_id, filters, order = guards.organization_id(), filters_from_query(query), PayoutOrder(query["sort"])
    names = {field.data_key for field in PayoutsExportQuery().fields.values()}
    after = {"filters": {name: request.args[name] for name in sorted(request.args) if name in names}}
    with db.unit_of_work(organization_id):
        audit.record("payouts.exported", organization_id, after=after, now=clock.now())

    def read(after: Any, limit: int) -> csv_files.FilePiece | None:
        rows = lists.page(
            organization_id=organization_id, filters=filters, order=order, after=after, limit=limit, with_lines=False
        )
        return csv_files.FilePiece([_line(row) for row in rows], _position(rows[-1], order)) if rows else None

    return csv_files.stream("payouts.csv", _HEADINGS, organization_id, read)


def _position(row: ListedPayout, order: PayoutOrder) -> tuple[Any, UUID]:
    return (row.amount_cents if order in orders.BY_AMOUNT else row.created_at), UUID(row.id)


def _line(row: ListedPayout) -> tuple[str, ...]:
    return tuple(_cell(name, getattr(row, name)) for name in _HEADINGS)


def _cell(name: str, value: Any) -> str:
    if name in _FREE_TEXT:
        return csv_files.text_cell(value)
    if value is None:
        return ""
    return value.astimezone(UTC).strftime(_TIME) if isinstance(value, datetime) else str(value)
