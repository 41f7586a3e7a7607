"""Metrics of programs and affiliates, a summary of two periods, and the leaderboard. An addition to the interface.

Source: core spec, section 5 (dashboard metrics), section 8 (leaderboards are flat arrays).
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from flask import Blueprint, Response, jsonify
from marshmallow import ValidationError

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body
from api.edge.operations import array, object_of, operation
from domain.organization import plans
from domain.programs import days
from domain.programs.days import PeriodComparison
from domain.programs.metrics import MAX_DAYS, BoardMetric, MetricsGroup
from models import db
from models.programs.metrics import MetricsScope
from pipelines.programs import performance
from schemas.programs.metrics import (
    LeaderboardEntryRecord,
    LeaderboardQuery,
    MetricsQuery,
    MetricsRecord,
    PeriodSummaryQuery,
    SummaryRecord,
)

blueprint = Blueprint("metrics", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_METRICS = MetricsRecord()
_SUMMARY = SummaryRecord()
_ENTRY = LeaderboardEntryRecord()


@blueprint.get("/api/v1/metrics")
@operation(_READ, object_of(_METRICS), asks=MetricsQuery(), refuses=("404 not_found",), may_lag="answer")
def get_performance_metrics() -> Mapping[str, object]:
    """Show clicks, leads, sales and money in groups: by default of the last 30 days, at most of two years.

    A sale and its refunds count on the day of the sale, in UTC. Weeks begin on Monday. Grouped by affiliate, there are
    at most 1,000 rows, those with the most revenue; the totals include all affiliates.
    """
    query, organization_id = body.query(), guards.organization_id()
    day_range = _read_range(query)
    subject = MetricsScope(organization_id, query["program_id"], query["affiliate_id"])
    with db.unit_of_work(organization_id):
        metrics = performance.measure(subject, day_range, MetricsGroup(query["group_by"]))
    return _METRICS.dump(metrics)


@blueprint.get("/api/v1/stats/summary")
@operation(_READ, object_of(_SUMMARY), asks=PeriodSummaryQuery(), refuses=("404 not_found",), may_lag="answer")
def summarize_performance() -> Mapping[str, object]:
    """Show the figures of a range of days next to those of the range before: by default of the last 30 days.

    `compare` chooses the range before: as many days directly before (`period`), the same days a month before
    (`month`; a range to the end of a month ends with the end of the month before), or a year before (`year`). At most
    two years. A sale and its refunds count on the day of the sale, in UTC. Today is not complete, so `change` leaves it
    out: `compared` has as many days of both ranges, and their totals.
    """
    query, organization_id = body.query(), guards.organization_id()
    day_range, today = _read_range(query), clock.now().date()
    periods = days.pair_periods(day_range, PeriodComparison(query["compare"]), today=today)
    if periods is None:
        raise ValidationError({"from": ["The range before it would begin before the calendar."]})
    subject = MetricsScope(organization_id, query["program_id"], query["affiliate_id"])
    with db.unit_of_work(organization_id):
        summary = performance.summarize(subject, periods, MetricsGroup(query["group_by"]))
    return _SUMMARY.dump(summary)


@blueprint.get("/api/v1/leaderboard")
@operation(_READ, array(_ENTRY), asks=LeaderboardQuery(), refuses=("404 not_found",), may_lag="answer")
def get_leaderboard() -> Response:
    """Show the top affiliates of the last days, including today, or of a range of days.

    With `from` or `to`, `days` does not count, and the range is at most two years. Equal affiliates have the same rank,
    in the order of names; affiliates without results are left out.
    """
    query, organization_id = body.query(), guards.organization_id()
    today = clock.now().date()
    if query["first"] or query["last"]:
        day_range = _read_range(query)
    else:
        day_range = days.DayRange(today - timedelta(days=query["days"] - 1), today)
    with db.unit_of_work(organization_id):
        board = performance.rank(
            organization_id=organization_id,
            program_id=query["program_id"],
            metric=BoardMetric(query["metric"]),
            days=day_range,
            limit=query["limit"],
        )
    return jsonify([_ENTRY.dump(entry) | {"currency": board.currency} for entry in board.entries])


def _read_range(query: Mapping[str, Any]) -> days.DayRange:
    """Return the requested days. Raises ValidationError."""
    day_range = days.parse_range(query["first"], query["last"], today=clock.now().date(), limit=MAX_DAYS)
    if day_range is None:
        raise ValidationError({"from": [f"It must be the last day, or at most {MAX_DAYS - 1} days before it."]})
    return day_range
