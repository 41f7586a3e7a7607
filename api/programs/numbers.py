"""The numbers of programs: statistics, tracking status, recent events, budget status.

Source: core spec, "Campaigns (programs)".
"""

from typing import Any

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body, path
from api.edge.operations import array, object_of, operation
from domain.organization import plans
from models import db
from pipelines.programs import numbers
from schemas.programs.numbers import (
    BudgetStatus,
    ProgramStats,
    RecentEvent,
    RecentEventsQuery,
    TrackingStatus,
    event_limit,
    recent_events,
)

blueprint = Blueprint("program_numbers", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)

_STATS = ProgramStats()
_TRACKING = TrackingStatus()
_EVENT = RecentEvent()
_EVENTS_QUERY = RecentEventsQuery()
_BUDGET = BudgetStatus()


@blueprint.get("/api/v1/programs/stats")
@operation(_READ, array(_STATS), may_lag="answer")
def list_program_stats() -> Response:
    """Show the numbers of every program that is not archived, newest first."""
    with db.unit_of_work(guards.organization_id()):
        rows = numbers.list_stats(organization_id=guards.organization_id(), now=clock.now())
    return jsonify(_STATS.dump(rows, many=True))


@blueprint.get("/api/v1/programs/<program_id>/tracking-status")
@operation(_READ, object_of(_TRACKING), refuses=("404 not_found",))
def get_tracking_status(program_id: str) -> dict[str, Any]:
    """Show whether a program's tracking works: its last click and conversion."""
    wanted_id = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):
        status = numbers.find_tracking_status(
            organization_id=guards.organization_id(), program_id=wanted_id, now=clock.now()
        )
    return _TRACKING.dump(status)


@blueprint.get("/api/v1/programs/<program_id>/recent-events")
@operation(_READ, array(_EVENT), asks=_EVENTS_QUERY, refuses=("404 not_found",), may_lag="answer")
def list_recent_events(program_id: str) -> Response:
    """List a program's last clicks and conversions, newest first."""
    wanted_id = path.uuid(program_id, "program")
    limit = event_limit(body.query())
    with db.unit_of_work(guards.organization_id()):
        events = numbers.list_recent_events(organization_id=guards.organization_id(), program_id=wanted_id, limit=limit)
    return jsonify(recent_events(events))


@blueprint.get("/api/v1/programs/<program_id>/budget-status")
@operation(_READ, object_of(_BUDGET), refuses=("404 not_found",))
def get_budget_status(program_id: str) -> dict[str, Any]:
    """Show a program's budget for clicks and leads, and the amount spent."""
    wanted_id = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):
        status = numbers.compute_budget(organization_id=guards.organization_id(), program_id=wanted_id)
    return _BUDGET.dump(status)
