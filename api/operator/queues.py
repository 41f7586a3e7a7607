"""Queues: their workers, their backlog, and whether they are paused."""

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.edge import audit, body, idempotency
from api.edge.operations import EMPTY, array, operation
from api.operator.operator_guards import READ, WRITE
from models import db
from models.jobs import admin_queries
from pipelines.operating import job_queues
from schemas.affiliates.affiliate import Nothing
from schemas.operator.queues import QueueRecord, WhyBody

blueprint = Blueprint("operator_queues", __name__)

_RECORD = QueueRecord()


@blueprint.get("/api/operator/queues")
@operation(READ, array(_RECORD))
def list_queues() -> Response:
    """List the queues by name, with their live worker threads and their waiting, running, retrying and dead jobs.

    Budget: 4 round trips.
    """
    with db.any_org_work():
        rows = job_queues.any_org_list()
    return jsonify(_RECORD.dump(rows, many=True))


@blueprint.post("/api/operator/queues/<queue>/pause")
@operation(WRITE, EMPTY, status=204, takes=WhyBody(), refuses=("404 not_found",))
def pause_queue(queue: str) -> Response:
    """Stop dispatching a queue; running jobs finish, the others wait. 204, also if it is already paused."""
    name, why = job_queues.check_queue(queue), body.load()["why"]

    def pause() -> idempotency.Answer:
        admin_queries.pause_queue(name, why=why)
        audit.record("queue.paused", name, after={"queue": name, "why": why}, now=clock.now())
        return 204, None

    return idempotency.run_once_for_operator(pause)


@blueprint.post("/api/operator/queues/<queue>/resume")
@operation(WRITE, EMPTY, status=204, takes=Nothing(), refuses=("404 not_found",))
def resume_queue(queue: str) -> Response:
    """Dispatch a queue again. 204, also if it was not paused."""
    name = job_queues.check_queue(queue)
    body.load_optional()

    def resume() -> idempotency.Answer:
        admin_queries.resume_queue(name)
        audit.record("queue.resumed", name, after={"queue": name}, now=clock.now())
        return 204, None

    return idempotency.run_once_for_operator(resume, wakes_relay=True)
