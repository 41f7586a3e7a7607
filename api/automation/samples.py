"""Samples of trigger events, so that a workflow's fields can be chosen before an event happens."""

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body
from api.edge.operations import array, operation
from domain.organization import plans
from models import db
from pipelines.automation.samples import list_samples
from schemas.automation.hook import SampleEvent, SamplesQuery, check_trigger

blueprint = Blueprint("automation_samples", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)


@blueprint.get("/api/v1/automation/events/<event>/samples")
@operation(_READ, array(SampleEvent()), asks=SamplesQuery(), refuses=("400 unknown_event",))
def list_event_samples(event: str) -> Response:
    """List events of a type as they were sent, newest first; an example if none has happened yet."""
    check_trigger(event)
    limit = body.query()["limit"]
    with db.unit_of_work(guards.organization_id()):
        samples = list_samples(organization_id=guards.organization_id(), type=event, limit=limit, now=clock.now())
    return Response(f"[{','.join(samples)}]", content_type="application/json")
