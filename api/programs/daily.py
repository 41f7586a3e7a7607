"""Visits, sales and leads of programs by day, for charts. An addition to the interface."""

from collections.abc import Mapping

from flask import Blueprint
from marshmallow import ValidationError

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body
from api.edge.operations import object_of, operation
from domain.organization import plans
from domain.programs import days
from models import db
from models.programs.daily import DayScope
from pipelines.programs import daily_numbers
from schemas.programs.daily import DailyNumbers, DailyQuery

blueprint = Blueprint("daily_numbers", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_NUMBERS = DailyNumbers()


@blueprint.get("/api/v1/stats/daily")
@operation(_READ, object_of(_NUMBERS), asks=DailyQuery(), refuses=("404 not_found",), may_lag="answer")
def get_daily_numbers() -> Mapping[str, object]:
    """Show visits, sales and leads by day: by default the last 30 days, at most 366."""
    query, organization_id = body.query(), guards.organization_id()
    day_range = days.parse_range(query["first"], query["last"], today=clock.now().date())
    if day_range is None:
        raise ValidationError({"from": [f"It must be the last day, or at most {days.MAX_DAYS - 1} days before it."]})
    with db.unit_of_work(organization_id):
        rows = daily_numbers.list_days(DayScope(organization_id, query["program_id"], query["affiliate_id"]), day_range)
    return _NUMBERS.dump({"first": day_range.first, "last": day_range.last, "days": rows})
