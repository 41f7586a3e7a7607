"""What is done by the clock, when it was done last, and what is late."""

from flask import Blueprint, Response, jsonify

from api.edge.operations import array, operation
from api.operator.guarding import READ
from models import db
from pipelines import schedule
from schemas.operator.queues import ScheduleLineRecord

blueprint = Blueprint("operator_schedule", __name__)

_RECORD = ScheduleLineRecord()


@blueprint.get("/api/operator/schedule")
@operation(READ, array(_RECORD))
def list_schedule() -> Response:
    """List the lines of the schedule with their last tick and their next; a late one has no scheduler looking after it.

    Budget: 1 round trip.
    """
    with db.any_org_work():
        found = schedule.list_lines()
    return jsonify(_RECORD.dump(found, many=True))
