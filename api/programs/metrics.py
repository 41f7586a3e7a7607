"""Metrics of programs and affiliates, and who brought the most. An addition to the interface.

Source: core spec, section 5 (dashboard metrics), section 8 (leaderboards are flat arrays).
"""

from collections.abc import Mapping
from datetime import timedelta

from flask import Blueprint, Response, jsonify
from marshmallow import ValidationError

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body
from api.edge.operations import array, object_of, operation
from domain.organization import plans
from domain.programs import days
from domain.programs.metrics import MAX_DAYS, BoardMetric, MetricsGroup
from models import db
from models.programs.metrics import MetricsScope
from pipelines.programs import measuring
from schemas.programs.metrics import BoardRecord, LeaderboardQuery, MetricsAnswer, MetricsQuery

blueprint = Blueprint("metrics", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_METRICS = MetricsAnswer()
_ENTRY = BoardRecord()


@blueprint.get("/api/v1/metrics")
@operation(_READ, object_of(_METRICS), asks=MetricsQuery(), refuses=("404 not_found",), may_lag="answer")
def get_performance_metrics() -> Mapping[str, object]:
    """Show clicks, leads, sales and money of the last 30 days, or of up to two years, grouped.

    A sale counts on the day on which it occurred, in UTC, and so does what it gave back since. Weeks begin on Monday.
    Of affiliates there are at most 1,000 rows, those with the most revenue; the totals are of all of them.
    """
    query, organization_id = body.query(), guards.organization_id()
    wanted = days.parse_range(query["first"], query["last"], today=clock.now().date(), limit=MAX_DAYS)
    if wanted is None:
        raise ValidationError({"from": [f"It must be the last day, or at most {MAX_DAYS - 1} days before it."]})
    whose = MetricsScope(organization_id, query["program_id"], query["affiliate_id"])
    with db.unit_of_work(organization_id):
        found = measuring.measure(whose, wanted, MetricsGroup(query["group_by"]))
    shown: Mapping[str, object] = _METRICS.dump(found)
    return shown


@blueprint.get("/api/v1/leaderboard")
@operation(_READ, array(_ENTRY), asks=LeaderboardQuery(), refuses=("404 not_found",), may_lag="answer")
def get_leaderboard() -> Response:
    """Show the affiliates who brought the most in the last days, today being one of them.

    Who is equal has the same rank, in the order of names; who brought nothing has no place.
    """
    query, organization_id = body.query(), guards.organization_id()
    today = clock.now().date()
    with db.unit_of_work(organization_id):
        found = measuring.rank(
            organization_id=organization_id,
            program_id=query["program_id"],
            metric=BoardMetric(query["metric"]),
            days=days.DayRange(today - timedelta(days=query["days"] - 1), today),
            limit=query["limit"],
        )
    return jsonify([_ENTRY.dump(entry) | {"currency": found.currency} for entry in found.entries])
