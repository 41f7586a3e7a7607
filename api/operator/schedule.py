"""The scheduled tasks, with their last and next run, and whether they are late."""

from flask import Blueprint, Response, jsonify

from api.edge.operations import array, operation
from api.operator.operator_guards import READ
from models import db
from pipelines import schedule
from schemas.operator.queues import ScheduleLineRecord

blueprint = Blueprint("operator_schedule", __name__)

_RECORD = ScheduleLineRecord()


@blueprint.get("/api/operator/schedule")
@operation(READ, array(_RECORD))
def list_schedule() -> Response:
    """List the scheduled tasks with their last and next run; a late one has no running scheduler.

    Budget: 1 round trip.
    """
    with db.any_org_work():
        rows = schedule.list_lines()
    return jsonify(_RECORD.dump(rows, many=True))
