"""Payouts, for the brand.

Source: core spec, "Payouts" and "Payout".
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging, path
from api.edge.operations import array, object_of, operation, page
from domain.organization import plans
from domain.payouts import orders
from domain.payouts.orders import PayoutOrder
from domain.refusals import not_found
from models import db
from models.payouts import candidates, lists, payouts
from models.payouts.lists import PayoutFilters
from pipelines.payouts import funding
from schemas.paging import PageQuery
from schemas.payouts.hold import PayoutHoldRecord
from schemas.payouts.payout import PayoutFundingRecord, PayoutLineRecord, PayoutQuery, PayoutRecord, PayoutsQuery

blueprint = Blueprint("payouts", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RECORD = PayoutRecord()
_WITHOUT_LINES = PayoutRecord(exclude=("line_items",))
_LINE = PayoutLineRecord()
_HOLD = PayoutHoldRecord()
_FUNDING = PayoutFundingRecord()


@blueprint.get("/api/v1/payouts")
@operation(_READ, page(_RECORD), asks=PayoutsQuery(), may_lag="answer")
def list_payouts() -> Mapping[str, object]:
    """List payouts, newest first unless `sort` says otherwise, with their conversions."""
    query = body.query()
    order, with_lines = PayoutOrder(query["sort"]), query["line_items"]
    is_by_amount = order in orders.BY_AMOUNT
    page_request = paging.read_page_request(
        query, order="" if order is PayoutOrder.newest else order, is_by_number=is_by_amount
    )
    with db.unit_of_work(guards.organization_id()):
        rows = lists.page(
            organization_id=guards.organization_id(),
            filters=filters_from_query(query),
            order=order,
            **page_request.window,
            with_lines=with_lines,
        )
    return paging.serialize_page(
        page_request,
        rows,
        _serialize if with_lines else _serialize_without_lines,
        time_field="amount_cents" if is_by_amount else "created_at",
    )


def filters_from_query(query: Mapping[str, Any]) -> PayoutFilters:
    """Return the filters of a loaded query (`schemas.payouts.payout.PayoutsExportQuery`)."""
    return PayoutFilters(**{field.name: query[field.name] for field in dataclasses.fields(PayoutFilters)})


@blueprint.get("/api/v1/payouts/<payout_id>")
@operation(_READ, object_of(_RECORD), asks=PayoutQuery(), refuses=("404 not_found",))
def get_payout(payout_id: str) -> Mapping[str, object]:
    """Show one payout with its conversions."""
    payout_uuid, with_lines = path.uuid(payout_id, "payout"), body.query()["line_items"]
    with db.unit_of_work(guards.organization_id()):
        payout = lists.find(organization_id=guards.organization_id(), payout_id=payout_uuid, with_lines=with_lines)
    if payout is None:
        raise not_found("payout", payout_uuid)
    return (_RECORD if with_lines else _WITHOUT_LINES).dump(payout)


@blueprint.get("/api/v1/payouts/<payout_id>/lines")
@operation(_READ, page(_LINE), asks=PageQuery(), refuses=("404 not_found",), may_lag="answer")
def list_payout_lines(payout_id: str) -> Mapping[str, object]:
    """List the conversions of a payout with their amounts."""
    payout_uuid, page_request = path.uuid(payout_id, "payout"), paging.read_page_request(body.query())
    where = {"organization_id": guards.organization_id(), "payout_id": payout_uuid}
    with db.unit_of_work(guards.organization_id()):
        rows = lists.lines_page(**where, **page_request.window)
        if not rows and payouts.find(**where) is None:
            raise not_found("payout", payout_uuid)
    return paging.serialize_page(page_request, rows, _serialize_lines)


@blueprint.get("/api/v1/payouts/holds")
@operation(_READ, array(_HOLD))
def list_payout_holds() -> list[object]:
    """Show the amounts on hold, by due day and currency."""
    with db.unit_of_work(guards.organization_id()):
        holds = candidates.list_on_hold(organization_id=guards.organization_id(), now=clock.now())
    return _HOLD.dump(holds, many=True)


@blueprint.get("/api/v1/payouts/funding/status")
@operation(_READ, object_of(_FUNDING))
def get_funding_status() -> Mapping[str, object]:
    """Show the funding of payouts, and whether a run is possible now, with the reason if not."""
    with db.unit_of_work(guards.organization_id()):
        status = funding.find_funding(organization_id=guards.organization_id(), now=clock.now())
    return _FUNDING.dump(status)


def _serialize(rows: Sequence[Any]) -> list[Any]:
    return _RECORD.dump(rows, many=True)


def _serialize_lines(rows: Sequence[Any]) -> list[Any]:
    return _LINE.dump(rows, many=True)


def _serialize_without_lines(rows: Sequence[Any]) -> list[Any]:
    return _WITHOUT_LINES.dump(rows, many=True)
