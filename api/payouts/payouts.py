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
from api.edge.operations import one, operation, page
from domain.organization import plans
from domain.organization.access import Role, at_least
from domain.refused import not_found
from models import db
from models.payouts import lists
from pipelines.payouts import funding
from schemas.payouts.payout import FundingRecord, PayoutRecord, PayoutsQuery

blueprint = Blueprint("payouts", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RECORD = PayoutRecord()
_WITHOUT_LINES = PayoutRecord(exclude=("line_items",))
_FUNDING = FundingRecord()


@blueprint.get("/api/v1/payouts")
@operation(_READ, page(_RECORD), asks=PayoutsQuery())
def list_payouts() -> Mapping[str, object]:
    """List payouts, newest first, with what each pays for."""
    query = body.query()
    asked, with_lines = paging.wanted(query), query["line_items"]
    with db.unit_of_work(guards.organization_id()):
        rows = lists.page(
            organization_id=guards.organization_id(),
            filters=lists.PayoutFilters(query["affiliate_id"], query["status"], query["run_id"]),
            after=asked.after,
            limit=asked.limit,
            with_lines=with_lines,
        )
    return paging.envelope(asked, rows, _shown if with_lines else _shown_without_lines)


@blueprint.get("/api/v1/payouts/<payout_id>")
@operation(_READ, one(_RECORD), refuses=("404 not_found",))
def get_payout(payout_id: str) -> Mapping[str, object]:
    """Show one payout with what it pays for."""
    wanted_id = path.uuid(payout_id, "payout")
    with db.unit_of_work(guards.organization_id()):
        found = lists.find(organization_id=guards.organization_id(), payout_id=wanted_id)
    if found is None:
        raise not_found("payout", wanted_id)
    shown: Mapping[str, object] = _RECORD.dump(found)
    return shown


@blueprint.get("/api/v1/payouts/funding/status")
@operation(_READ, one(_FUNDING))
def get_funding_status() -> Mapping[str, object]:
    """Show how payouts are funded, and whether and why none can be run now."""
    with db.unit_of_work(guards.organization_id()):
        found = funding.status(organization_id=guards.organization_id(), can_manage=_can_manage(), now=clock.now())
    shown: Mapping[str, object] = _FUNDING.dump(found)
    return shown


def _can_manage() -> bool:
    caller = guards.caller()
    return caller.is_interactive and at_least(caller.role, Role.Admin)


def _shown(rows: Sequence[Any]) -> list[Any]:
    shown: list[Any] = _RECORD.dump(rows, many=True)
    return shown


def _shown_without_lines(rows: Sequence[Any]) -> list[Any]:
    shown: list[Any] = _WITHOUT_LINES.dump(rows, many=True)
    return shown
