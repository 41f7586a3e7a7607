"""Queues: who works on them, how much waits, and whether anything is handed out."""

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.edge import audit, body, idempotency
from api.edge.operations import EMPTY, array, operation
from api.edge.relay_waker import wake_relay
from api.operator.guarding import READ, WRITE
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
    """List the queues by name, with their live worker threads and what waits, is out, retries and is dead.

    Budget: 4 round trips.
    """
    with db.any_org_work():
        found = job_queues.any_org_list()
    return jsonify(_RECORD.dump(found, many=True))


@blueprint.post("/api/operator/queues/<queue>/pause")
@operation(WRITE, EMPTY, status=204, takes=WhyBody(), refuses=("404 not_found",))
def pause_queue(queue: str) -> Response:
    """Hand nothing more out of a queue; what is out finishes, the rest waits. 204, also when it is paused already."""
    name, why = job_queues.check_queue(queue), body.load()["why"]

    def pause() -> idempotency.Answer:
        admin_queries.pause_queue(name, why=why)
        audit.record("queue.paused", name, after={"queue": name, "why": why}, now=clock.now())
        return 204, None

    return idempotency.run_once_for_operator(pause)


@blueprint.post("/api/operator/queues/<queue>/resume")
@operation(WRITE, EMPTY, status=204, takes=Nothing(), refuses=("404 not_found",))
def resume_queue(queue: str) -> Response:
    """Hand out of a queue again. 204, also when it was not paused."""
    name = job_queues.check_queue(queue)
    body.load_optional()

    def resume() -> idempotency.Answer:
        admin_queries.resume_queue(name)
        audit.record("queue.resumed", name, after={"queue": name}, now=clock.now())
        return 204, None

    answer = idempotency.run_once_for_operator(resume)
    wake_relay()
    return answer
