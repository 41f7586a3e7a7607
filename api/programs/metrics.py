"""Metrics of programs and affiliates, and the leaderboard. An addition to the interface.

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
from pipelines.programs import performance
from schemas.programs.metrics import LeaderboardEntryRecord, LeaderboardQuery, MetricsQuery, MetricsRecord

blueprint = Blueprint("metrics", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_METRICS = MetricsRecord()
_ENTRY = LeaderboardEntryRecord()


@blueprint.get("/api/v1/metrics")
@operation(_READ, object_of(_METRICS), asks=MetricsQuery(), refuses=("404 not_found",), may_lag="answer")
def get_performance_metrics() -> Mapping[str, object]:
    """Show clicks, leads, sales and money in groups: by default of the last 30 days, at most of two years.

    A sale and its refunds count on the day of the sale, in UTC. Weeks begin on Monday. Grouped by affiliate, there are
    at most 1,000 rows, those with the most revenue; the totals include all affiliates.
    """
    query, organization_id = body.query(), guards.organization_id()
    day_range = days.parse_range(query["first"], query["last"], today=clock.now().date(), limit=MAX_DAYS)
    if day_range is None:
        raise ValidationError({"from": [f"It must be the last day, or at most {MAX_DAYS - 1} days before it."]})
    subject = MetricsScope(organization_id, query["program_id"], query["affiliate_id"])
    with db.unit_of_work(organization_id):
        metrics = performance.measure(subject, day_range, MetricsGroup(query["group_by"]))
    return _METRICS.dump(metrics)


@blueprint.get("/api/v1/leaderboard")
@operation(_READ, array(_ENTRY), asks=LeaderboardQuery(), refuses=("404 not_found",), may_lag="answer")
def get_leaderboard() -> Response:
    """Show the top affiliates of the last days, including today.

    Equal affiliates have the same rank, in the order of names; affiliates without results are left out.
    """
    query, organization_id = body.query(), guards.organization_id()
    today = clock.now().date()
    with db.unit_of_work(organization_id):
        board = performance.rank(
            organization_id=organization_id,
            program_id=query["program_id"],
            metric=BoardMetric(query["metric"]),
            days=days.DayRange(today - timedelta(days=query["days"] - 1), today),
            limit=query["limit"],
        )
    return jsonify([_ENTRY.dump(entry) | {"currency": board.currency} for entry in board.entries])
