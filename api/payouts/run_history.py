"""Past runs, for the brand.

Source: core spec, "Payouts" (the run receipt shows reviewStatus and holdUntil).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint

from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging, path
from api.edge.operations import object_of, operation, page
from domain.organization import plans
from domain.refusals import not_found
from models import db
from models.payouts import run_lists
from schemas.paging import PageQuery
from schemas.payouts.made_run import PayoutRunProgressRecord

blueprint = Blueprint("made_runs", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RECORD = PayoutRunProgressRecord()


@blueprint.get("/api/v1/payouts/runs")
@operation(_READ, page(_RECORD), asks=PageQuery(), may_lag="answer")
def list_payout_runs() -> Mapping[str, object]:
    """List runs, newest first, each with the status of its payouts."""
    page_request = paging.read_page_request(body.query())
    with db.unit_of_work(guards.organization_id()):
        rows = run_lists.page(organization_id=guards.organization_id(), **page_request.window)
    return paging.serialize_page(page_request, rows, _serialize)


@blueprint.get("/api/v1/payouts/runs/<run_id>")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_payout_run(run_id: str) -> Mapping[str, object]:
    """Show one run with the status of its payouts; list the payouts themselves by `runId`."""
    wanted_id = path.uuid(run_id, "run")
    with db.unit_of_work(guards.organization_id()):
        run = run_lists.find(organization_id=guards.organization_id(), run_id=wanted_id)
    if run is None:
        raise not_found("run", wanted_id)
    return _RECORD.dump(run)


def _serialize(rows: Sequence[Any]) -> list[Any]:
    return _RECORD.dump(rows, many=True)
