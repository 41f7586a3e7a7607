"""Events of a connection: its inbox, its counts, and the reconciliation of missed events.

A replayed event is processed again, for example after its campaign was corrected.
"""

from collections.abc import Mapping
from datetime import datetime

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from api.gateways.connections import find, lock_active
from domain.organization import plans
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.gateways import inbox, stats
from pipelines.gateways import receive, reconcile
from schemas.gateways.event import (
    ConnectionStatsRecord,
    GatewayEventRecord,
    GatewayEventsQuery,
    ReconcileAnswer,
    ReconcileBody,
)

blueprint = Blueprint("gateway_events", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_WRITE = Guard(audience="dashboard", scope="read_write", role=Role.Admin, verified_email=True)

_EVENT = GatewayEventRecord()
_RECONCILE = ReconcileAnswer()
_STATS = ConnectionStatsRecord()


@blueprint.get("/api/v1/connections/<connection_id>/events")
@operation(_READ, page(_EVENT), asks=GatewayEventsQuery(), refuses=("404 not_found",), may_lag="answer")
def list_gateway_events(connection_id: str) -> Mapping[str, object]:
    """List the events of a gateway with their outcomes, newest first; `status` filters the list."""
    query = body.query()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(guards.organization_id()):
        connection = find(connection_id)
        rows = inbox.page(
            organization_id=connection.organization_id,
            connection_id=connection.id,
            status=query["status"],
            **page_request.window,
        )
    return paging.serialize_page(page_request, rows, lambda page: _EVENT.dump(page, many=True))


@blueprint.post("/api/v1/connections/<connection_id>/events/<event_id>/replay")
@operation(_WRITE, object_of(_EVENT), status=202, refuses=("404 not_found", "409 raw_dropped"))
def replay_gateway_event(connection_id: str, event_id: str) -> Response:
    """Process an event again. 202 with it; money that is already booked is not booked again."""
    return idempotency.run_once(lambda: _replay(connection_id, event_id), wakes_relay=True)


def _replay(connection_id: str, event_id: str) -> tuple[int, Mapping[str, object]]:
    now, connection = clock.now(), find(connection_id)
    id = path.uuid(event_id, "event")
    event = inbox.lock(organization_id=connection.organization_id, event_id=id)
    if event is None or event.connection_id != connection.id:
        raise not_found("event", id)
    receive.retry(event)
    audit.record("gateway_event.replayed", event.id, now=now)
    replayed = inbox.find(organization_id=connection.organization_id, event_id=event.id)
    return 202, _EVENT.dump(replayed)


@blueprint.post("/api/v1/connections/<connection_id>/reconcile")
@operation(_WRITE, object_of(_RECONCILE), status=202, takes=ReconcileBody(), refuses=("404 not_found",))
def reconcile_connection(connection_id: str) -> Response:
    """Import the events that the gateway lists since a time and that are missing here. 202 with the number of the job.

    Without `since` it starts an hour before the last complete import.
    """
    since = body.load_optional()["since"]
    return idempotency.run_once(lambda: _reconcile(connection_id, since), wakes_relay=True)


def _reconcile(connection_id: str, since: datetime | None) -> tuple[int, Mapping[str, object]]:
    now, connection = clock.now(), lock_active(connection_id)
    job_id = reconcile.enqueue_run(connection, since=since)
    audit.record("connection.reconciled", connection.id, now=now)
    return 202, {"jobId": str(job_id)}


@blueprint.get("/api/v1/connections/<connection_id>/stats")
@operation(_READ, object_of(_STATS), refuses=("404 not_found",), may_lag="answer")
def get_connection_stats(connection_id: str) -> Mapping[str, object]:
    """Count the events of a connection by outcome."""
    with db.unit_of_work(guards.organization_id()):
        connection = find(connection_id)
        counts = stats.count_events(organization_id=connection.organization_id, connection_id=connection.id)
    return _STATS.dump(counts)
