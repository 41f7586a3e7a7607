"""Webhook endpoints: the URLs that receive the brand's events.

Source: tracking spec, section 6 "Events".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from domain.organization import plans
from domain.refusals import Refused
from domain.webhooks import events
from models import db
from models.webhooks import endpoints
from models.webhooks.endpoints import WebhookEndpoint
from pipelines.webhooks import manage
from schemas.webhooks.webhook import (
    EndpointBody,
    EndpointChanges,
    EndpointsQuery,
    EndpointTest,
    NewWebhookEndpoint,
    WebhookEndpointRecord,
    WebhookTestAnswer,
)

blueprint = Blueprint("webhooks", __name__)

# Endpoints outlive a plan: they still receive events, and can be read and deleted on every plan.
_READ = Guard(audience="brand")
_KEEP = Guard(audience="brand", scope="read_write")
_WRITE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter)

_RECORD = WebhookEndpointRecord()
_URL_REFUSALS = ("400 invalid_url", "400 https_required", "400 url_not_allowed")

_Answer = tuple[int, Mapping[str, object]]


@blueprint.post("/api/v1/webhooks")
@operation(
    _WRITE,
    object_of(NewWebhookEndpoint()),
    shows_secret=True,
    status=201,
    takes=EndpointBody(),
    refuses=(*_URL_REFUSALS, "400 unknown_event", "400 endpoint_already_exists", "400 webhook_limit_reached"),
)
def create_webhook_endpoint() -> Response:
    """Create an endpoint. 201 with it and its signing secret, which is never shown again."""
    values = body.load()
    refusal = manage.find_refusal(values["url"])
    return idempotency.run_once(lambda: _create(values, refusal))


def _create(values: Mapping[str, Any], refusal: Refused | None) -> _Answer:
    if refusal is not None:
        raise refusal
    now = clock.now()
    created = manage.create(organization_id=guards.organization_id(), body=values, now=now)
    record = _RECORD.dump(created.endpoint)
    audit.record("webhook_endpoint.created", created.endpoint.id, after=record, now=now)
    return 201, {**record, "secret": created.secret}


@blueprint.get("/api/v1/webhooks")
@operation(_READ, page(_RECORD), asks=EndpointsQuery())
def list_webhook_endpoints() -> Mapping[str, object]:
    """List endpoints, newest first; by default including those that no-code platforms manage."""
    query = body.query()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(guards.organization_id()):
        rows = endpoints.page(
            organization_id=guards.organization_id(),
            **page_request.window,
            managed=query["managed"],
        )
    return paging.serialize_page(page_request, rows, _serialize)


@blueprint.get("/api/v1/webhooks/<endpoint_id>")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_webhook_endpoint(endpoint_id: str) -> Mapping[str, object]:
    """Show one endpoint."""
    with db.unit_of_work(guards.organization_id()):
        record: Mapping[str, object] = _RECORD.dump(find_endpoint(endpoint_id))
    return record


@blueprint.patch("/api/v1/webhooks/<endpoint_id>")
@operation(
    _WRITE,
    object_of(_RECORD),
    takes=EndpointChanges(),
    refuses=(
        *_URL_REFUSALS,
        "400 unknown_event",
        "400 endpoint_already_exists",
        "404 not_found",
        "409 endpoint_is_managed",
    ),
)
def change_webhook_endpoint(endpoint_id: str) -> Response:
    """Change URL, events or description. 200 with the endpoint."""
    with db.unit_of_work(guards.organization_id()):
        find_endpoint(endpoint_id)  # a missing endpoint is reported before an invalid body
    changes = body.load()
    refusal = manage.find_refusal(changes["url"]) if "url" in changes else None
    return idempotency.run_once(lambda: _change(endpoint_id, changes, refusal))


def _change(endpoint_id: str, changes: Mapping[str, Any], refusal: Refused | None) -> _Answer:
    if refusal is not None:
        raise refusal
    now, endpoint = clock.now(), find_endpoint(endpoint_id)
    before = _RECORD.dump(endpoint)
    after = _RECORD.dump(manage.change(endpoint=endpoint, changes=changes, now=now))
    audit.record("webhook_endpoint.updated", endpoint.id, before=before, after=after, now=now)
    return 200, after


@blueprint.delete("/api/v1/webhooks/<endpoint_id>")
@operation(_KEEP, status=204, refuses=("404 not_found",))
def delete_webhook_endpoint(endpoint_id: str) -> Response:
    """Delete an endpoint. 204."""
    now = clock.now()
    with db.unit_of_work(guards.organization_id()):
        endpoint = find_endpoint(endpoint_id)
        manage.remove(endpoint=endpoint, now=now)
        audit.record("webhook_endpoint.deleted", endpoint.id, before=_RECORD.dump(endpoint), now=now)
    return Response(status=204)


@blueprint.post("/api/v1/webhooks/<endpoint_id>/rotate-secret")
@operation(
    _WRITE, object_of(NewWebhookEndpoint()), refuses=("404 not_found", "409 endpoint_is_managed"), shows_secret=True
)
def rotate_webhook_secret(endpoint_id: str) -> Response:
    """Replace the signing secret at once. 200 with the endpoint and the new secret."""
    return idempotency.run_once(lambda: _rotate(endpoint_id))


def _rotate(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), find_endpoint(endpoint_id)
    rotated = manage.rotate_secret(endpoint=endpoint, now=now)
    audit.record("webhook_endpoint.secret_rotated", endpoint.id, now=now)
    return 200, {**_RECORD.dump(rotated.endpoint), "secret": rotated.secret}


@blueprint.post("/api/v1/webhooks/<endpoint_id>/test")
@operation(
    _WRITE,
    object_of(WebhookTestAnswer()),
    takes=EndpointTest(),
    refuses=("400 unknown_event", "400 sample_not_available", "400 event_not_subscribed", "404 not_found"),
)
def test_webhook_endpoint(endpoint_id: str) -> Response:
    """Send a sample event to this endpoint alone. 200 with the id of the delivery in the history."""
    return idempotency.run_once(lambda: _test(endpoint_id), wakes_relay=True)


def _test(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), find_endpoint(endpoint_id)
    values = body.load_optional()
    type = values["type"]
    test = manage.send_test(endpoint=endpoint, type=type, now=now)
    event_id = events.event_id(test.event_id)
    audit.record("webhook_endpoint.tested", endpoint.id, after={"type": type, "eventId": event_id}, now=now)
    return 200, {"deliveryId": str(test.delivery_id), "eventId": event_id, "eventType": type, "status": "Pending"}


def _serialize(rows: Sequence[WebhookEndpoint]) -> list[Any]:
    return [_RECORD.dump(row) for row in rows]


def find_endpoint(endpoint_id: str) -> WebhookEndpoint:
    """Return an endpoint of the caller's organization. Raises Refused 404 not_found."""
    wanted_id = path.uuid(endpoint_id, "webhook endpoint")
    return manage.find(organization_id=guards.organization_id(), endpoint_id=wanted_id)
