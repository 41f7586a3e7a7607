"""Uncredited sales, which had no affiliate who could earn: the list, the totals, and dismissing one.

Source: core spec, "Click and lead fraud review" (uncredited conversions).
"""

import dataclasses
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from domain.organization import plans
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.conversions import uncredited_sales
from schemas.conversions.uncredited import UncreditedConversionRecord, UncreditedQuery, UncreditedSummary

blueprint = Blueprint("uncredited", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_WRITE = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
_RECORD = UncreditedConversionRecord()
_SUMMARY = UncreditedSummary()
_MAX_ROWS = 500


@blueprint.get("/api/v1/uncredited-conversions")
@operation(_READ, array(_RECORD), asks=UncreditedQuery(), may_lag="answer")
def list_uncredited_conversions() -> list[Any]:
    """List sales whose affiliate could not earn, newest first, up to 500."""
    query, organization_id = body.query(), guards.organization_id()
    with db.unit_of_work(organization_id):
        rows = uncredited_sales.page(organization_id=organization_id, limit=_MAX_ROWS, **query)
    return _RECORD.dump(rows, many=True)


@blueprint.get("/api/v1/uncredited-conversions/summary")
@operation(_READ, object_of(_SUMMARY), may_lag="answer")
def summarize_uncredited_conversions() -> Mapping[str, object]:
    """Sum up the open ones, by currency."""
    with db.unit_of_work(guards.organization_id()):
        totals = uncredited_sales.sum_open(guards.organization_id())
    record: Mapping[str, object] = _SUMMARY.dump(
        {"open_count": sum(total.count for total in totals), "by_currency": totals}
    )
    return record


@blueprint.patch("/api/v1/uncredited-conversions/<uncredited_id>/dismiss")
@operation(_WRITE, object_of(_RECORD), refuses=("404 not_found",))
def dismiss_uncredited_conversion(uncredited_id: str) -> Response:
    """Dismiss a sale. 200, also if it is dismissed already."""
    wanted_id = path.uuid(uncredited_id, "uncredited conversion")
    return idempotency.run_once(lambda: _dismiss(wanted_id))


def _dismiss(wanted_id: UUID) -> idempotency.Answer:
    organization_id = guards.organization_id()
    sale = uncredited_sales.lock(organization_id=organization_id, uncredited_id=wanted_id)
    if sale is None:
        raise not_found("uncredited conversion", wanted_id)
    if sale.status == "dismissed":
        return 200, _RECORD.dump(sale)
    uncredited_sales.stage_dismissal(organization_id=organization_id, uncredited_id=wanted_id)
    before, after = _RECORD.dump(sale), _RECORD.dump(dataclasses.replace(sale, status="dismissed"))
    audit.record("uncredited_conversion.dismissed", wanted_id, before=before, after=after, now=clock.now())
    return 200, after
