"""Payouts, as the brand reads them.

Source: core spec, "Payouts" and "Payout".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging, path
from api.edge.operations import array, object_of, operation, page
from domain.organization import plans
from domain.refusals import not_found
from models import db
from models.payouts import candidates, lists, payouts
from pipelines.payouts import funding
from schemas.paging import PageQuery
from schemas.payouts.hold import HoldRecord
from schemas.payouts.payout import FundingRecord, LineRecord, PayoutQuery, PayoutRecord, PayoutsQuery

blueprint = Blueprint("payouts", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RECORD = PayoutRecord()
_WITHOUT_LINES = PayoutRecord(exclude=("line_items",))
_LINE = LineRecord()
_HOLD = HoldRecord()
_FUNDING = FundingRecord()


@blueprint.get("/api/v1/payouts")
@operation(_READ, page(_RECORD), asks=PayoutsQuery(), may_lag="answer")
def list_payouts() -> Mapping[str, object]:
    """List payouts, newest first, with what each pays for."""
    query = body.query()
    asked, with_lines = paging.read_page_request(query), query["line_items"]
    with db.unit_of_work(guards.organization_id()):
        rows = lists.page(
            organization_id=guards.organization_id(),
            filters=lists.PayoutFilters(query["affiliate_id"], query["status"], query["run_id"]),
            after=asked.after,
            limit=asked.limit,
            with_lines=with_lines,
        )
    return paging.serialize_page(asked, rows, _shown if with_lines else _shown_without_lines)


@blueprint.get("/api/v1/payouts/<payout_id>")
@operation(_READ, object_of(_RECORD), asks=PayoutQuery(), refuses=("404 not_found",))
def get_payout(payout_id: str) -> Mapping[str, object]:
    """Show one payout with what it pays for."""
    wanted_id, with_lines = path.uuid(payout_id, "payout"), body.query()["line_items"]
    with db.unit_of_work(guards.organization_id()):
        found = lists.find(organization_id=guards.organization_id(), payout_id=wanted_id, with_lines=with_lines)
    if found is None:
        raise not_found("payout", wanted_id)
    shown: Mapping[str, object] = (_RECORD if with_lines else _WITHOUT_LINES).dump(found)
    return shown


@blueprint.get("/api/v1/payouts/<payout_id>/lines")
@operation(_READ, page(_LINE), asks=PageQuery(), refuses=("404 not_found",), may_lag="answer")
def list_payout_lines(payout_id: str) -> Mapping[str, object]:
    """List what a payout pays for, conversion by conversion."""
    wanted_id, asked = path.uuid(payout_id, "payout"), paging.read_page_request(body.query())
    where = {"organization_id": guards.organization_id(), "payout_id": wanted_id}
    with db.unit_of_work(guards.organization_id()):
        rows = lists.lines_page(**where, after=asked.after, limit=asked.limit)
        if not rows and payouts.find(**where) is None:
            raise not_found("payout", wanted_id)
    return paging.serialize_page(asked, rows, _shown_lines)


@blueprint.get("/api/v1/payouts/holds")
@operation(_READ, array(_HOLD))
def list_payout_holds() -> list[object]:
    """Show what is on hold, by the day on which it becomes due and by currency."""
    with db.unit_of_work(guards.organization_id()):
        held = candidates.list_on_hold(organization_id=guards.organization_id(), now=clock.now())
    shown: list[object] = _HOLD.dump(held, many=True)
    return shown


@blueprint.get("/api/v1/payouts/funding/status")
@operation(_READ, object_of(_FUNDING))
def get_funding_status() -> Mapping[str, object]:
    """Show how payouts are funded, and whether and why none can be run now."""
    with db.unit_of_work(guards.organization_id()):
        found = funding.find_funding(organization_id=guards.organization_id(), now=clock.now())
    shown: Mapping[str, object] = _FUNDING.dump(found)
    return shown


def _shown(rows: Sequence[Any]) -> list[Any]:
    shown: list[Any] = _RECORD.dump(rows, many=True)
    return shown


def _shown_lines(rows: Sequence[Any]) -> list[Any]:
    shown: list[Any] = _LINE.dump(rows, many=True)
    return shown


def _shown_without_lines(rows: Sequence[Any]) -> list[Any]:
    shown: list[Any] = _WITHOUT_LINES.dump(rows, many=True)
    return shown
