"""A run's payouts as a CSV file for people who pay by hand.

Its columns are not those of any upload form of a bank or wallet.

Listed payouts are never sent by a rail, so nothing is paid twice. It is the only response with the payout accounts of
affiliates, so only an Owner who is logged in gets it.
Source: core spec, "Payouts"; section 8 "Limits" (CSV cells).
"""

import csv
import io
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body
from api.edge.operations import operation, text
from domain.organization.access import Role
from domain.text import csv_cells
from models import db
from models.payouts.manual_payouts import ManualPayout
from pipelines.payouts import export
from pipelines.payouts.export import ExportedList
from schemas.payouts.payout import MassPayQuery

blueprint = Blueprint("payout_csv", __name__)

_LIST = Guard(audience="dashboard", role=Role.Owner, needs_login=True)
_HEADINGS = (
    "payout_id",
    "affiliate_id",
    "affiliate_email",
    "affiliate_name",
    "method",
    "recipient",
    "amount",
    "currency",
    "period_start",
    "period_end",
)


@blueprint.get("/api/v1/payouts/mass-pay.csv")
@operation(
    _LIST,
    text("text/csv"),
    asks=MassPayQuery(),
    samples={"text/csv": ",".join(_HEADINGS)},
    refuses=("404 not_found", "409 payouts_on_hold"),
    writes=True,
)
def list_payouts_to_pay() -> Response:
    """List the payouts of a run that no rail pays, as CSV.

    From then on no rail will pay them. A repeated request lists those that are still unpaid.

    With `claim=true` it also includes those that were not sent to their rail yet. Payouts that are held or under review
    are not listed. Use mark-paid for the paid ones.
    """
    query, now = body.query(), clock.now()
    with db.unit_of_work(guards.organization_id()):
        listed = export.list_payouts(
            organization_id=guards.organization_id(), run_id=query["run_id"], takes_all=query["claim"], now=now
        )
        _audit(query["run_id"], listed, claims=query["claim"], now=now)
    answer = Response(_csv(listed), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = 'attachment; filename="mass-pay.csv"'
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _audit(run_id: UUID, listed: ExportedList, *, claims: bool, now: datetime) -> None:
    after = {
        "runId": str(run_id),
        "payoutCount": len(listed.payouts),
        "addedCount": listed.added,
        "totalCents": sum(payout.amount_cents for payout in listed.payouts),
        "claim": claims,
    }
    audit.record("payout.exported", run_id, after=after, now=now)


def _csv(listed: ExportedList) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_HEADINGS)
    writer.writerows(_row(payout) for payout in listed.payouts)
    return file.getvalue()


def _row(payout: ManualPayout) -> tuple[object, ...]:
    return (
        payout.payout_id,
        payout.affiliate_id,
        csv_cells.escape(payout.email),
        csv_cells.escape(payout.full_name or ""),
        payout.method,
        csv_cells.escape(payout.destination),
        Decimal(payout.amount_cents).scaleb(-2),
        payout.currency,
        payout.period_start.isoformat(),
        payout.period_end.isoformat(),
    )
