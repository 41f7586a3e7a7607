"""The signed-in affiliate's earnings with the reasons, as a list and as a file. Neither has any data of the buyer."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging
from api.edge.operations import operation, page, text
from api.edge.replica.request_reads import PieceReader
from domain.text import csv_cells
from models import db
from models.conversions import earnings
from models.conversions.earnings import Earning, EarningFilters
from models.listing import Position
from pipelines.organization.sign_in import SignedInAffiliate
from schemas.me.earning import OwnConversionRecord, OwnConversionsQuery, OwnExportQuery, own_conversion_records

blueprint = Blueprint("own_conversions", __name__)

_READ = Guard(audience="affiliate", verified_email=True)
_MAX_ROWS = 50_000
_PIECE_ROWS = 1_000
_COLUMNS = {
    "id": "id",
    "brand": "organizationName",
    "program": "programName",
    "type": "type",
    "occurred_at": "occurredAt",
    "amount_cents": "amountCents",
    "currency": "currency",
    "commission_cents": "commissionCents",
    "original_commission_cents": "originalCommissionCents",
    "refunded_amount_cents": "refundedAmountCents",
    "paid_cents": "paidCents",
    "state": "state",
    "payable_at": "payableAt",
    "coupon_code": "couponCode",
    "sub_id": "subId",
}


@blueprint.get("/api/me/conversions")
@operation(_READ, page(OwnConversionRecord()), asks=OwnConversionsQuery(), may_lag="answer")
def list_own_conversions() -> Mapping[str, object]:
    """List the conversions that credit the caller, of every brand, newest first, without tests. Budget: 1 statement."""
    query, account, now = body.query(), guards.account(), clock.now()
    page_request = paging.read_page_request(query)
    with db.any_org_work():
        rows = earnings.any_org_list_earnings(
            account_id=account.id,
            email=account.email,
            filters=EarningFilters(**query["filters"]),
            **page_request.window,
        )
    return paging.serialize_page(page_request, rows, lambda rows: own_conversion_records(rows, now=now))


@blueprint.get("/api/me/conversions.csv")
@operation(_READ, text("text/csv"), asks=OwnExportQuery(), samples={"text/csv": ",".join(_COLUMNS)}, may_lag="pieces")
def export_own_conversions() -> Response:
    """Export the conversions that credit the caller as CSV, newest first, up to 50,000 rows."""
    filters = EarningFilters(**body.query()["filters"])
    answer = Response(_file(guards.account(), filters, PieceReader()), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = 'attachment; filename="earnings.csv"'
    return answer


def _file(account: SignedInAffiliate, filters: EarningFilters, reader: PieceReader) -> Iterator[str]:
    yield _csv_lines([_COLUMNS])
    position: Position | None = None
    left, now = _MAX_ROWS, clock.now()

    def next_rows() -> list[Earning]:
        # One transaction per piece: a reader who takes an hour keeps none open, and memory holds one piece.
        with db.any_org_work():
            return earnings.any_org_list_earnings(
                account_id=account.id,
                email=account.email,
                filters=filters,
                after=position,
                limit=min(left, _PIECE_ROWS),
            )

    while left > 0:
        rows = reader.read(next_rows)
        if not rows:
            return
        records = own_conversion_records(rows, now=now)
        yield _csv_lines([_cell(record[name]) for name in _COLUMNS.values()] for record in records)
        position, left = (rows[-1].created_at, UUID(rows[-1].id)), left - len(rows)


def _csv_lines(rows: Any) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _cell(value: object) -> str:
    return csv_cells.escape(value) if isinstance(value, str) else "" if value is None else str(value)
