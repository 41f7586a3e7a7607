"""Webhook endpoints: where the brand is told what happens.

Source: tracking spec, section 6 "Events".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging
from api.edge.operations import object_of, operation, page
from api.edge.relay_waker import wake_relay
from api.webhooks import named
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
    EndpointRecord,
    EndpointsQuery,
    EndpointTest,
    NewEndpoint,
    TestAnswer,
)

blueprint = Blueprint("webhooks", __name__)

# Endpoints outlive a plan: they keep firing, and can be looked at and removed on every one.
_READ = Guard(audience="brand")
_KEEP = Guard(audience="brand", scope="read_write")
_WRITE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter)

_RECORD = EndpointRecord()
_URL_REFUSALS = ("400 invalid_url", "400 https_required", "400 url_not_allowed")

_Answer = tuple[int, Mapping[str, object]]


@blueprint.post("/api/v1/webhooks")
@operation(
    _WRITE,
    object_of(NewEndpoint()),
    shows_secret=True,
    status=201,
    takes=EndpointBody(),
    refuses=(*_URL_REFUSALS, "400 unknown_event", "400 endpoint_already_exists", "400 webhook_limit_reached"),
)
def create_webhook_endpoint() -> Response:
    """Create an endpoint. 201 with it and its signing secret, which is never shown again."""
    wanted = body.load()
    refusal = manage.refusal_of(wanted["url"])
    return idempotency.run_once(lambda: _create(wanted, refusal))


def _create(wanted: Mapping[str, Any], refusal: Refused | None) -> _Answer:
    if refusal is not None:
        raise refusal
    now = clock.now()
    made = manage.create(organization_id=guards.organization_id(), wanted=wanted, now=now)
    shown = _RECORD.dump(made.endpoint)
    audit.record("webhook_endpoint.created", made.endpoint.id, after=shown, now=now)
    return 201, {**shown, "secret": made.secret}


@blueprint.get("/api/v1/webhooks")
@operation(_READ, page(_RECORD), asks=EndpointsQuery())
def list_webhook_endpoints() -> Mapping[str, object]:
    """List endpoints, newest first, with the hooks that no-code platforms manage unless asked for one kind."""
    query = body.query()
    asked = paging.read_page_request(query)
    with db.unit_of_work(guards.organization_id()):
        rows = endpoints.page(
            organization_id=guards.organization_id(),
            after=asked.after,
            limit=asked.limit,
            managed=query["managed"],
        )
    return paging.serialize_page(asked, rows, _shown)


@blueprint.get("/api/v1/webhooks/<endpoint_id>")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_webhook_endpoint(endpoint_id: str) -> Mapping[str, object]:
    """Show one endpoint."""
    with db.unit_of_work(guards.organization_id()):
        shown: Mapping[str, object] = _RECORD.dump(named.endpoint(endpoint_id))
    return shown


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
        named.endpoint(endpoint_id)  # an endpoint that is not there comes before a body that is wrong
    changes = body.load()
    refusal = manage.refusal_of(changes["url"]) if "url" in changes else None
    return idempotency.run_once(lambda: _change(endpoint_id, changes, refusal))


def _change(endpoint_id: str, changes: Mapping[str, Any], refusal: Refused | None) -> _Answer:
    if refusal is not None:
        raise refusal
    now, endpoint = clock.now(), named.endpoint(endpoint_id)
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
        endpoint = named.endpoint(endpoint_id)
        manage.remove(endpoint=endpoint, now=now)
        audit.record("webhook_endpoint.deleted", endpoint.id, before=_RECORD.dump(endpoint), now=now)
    return Response(status=204)


@blueprint.post("/api/v1/webhooks/<endpoint_id>/rotate-secret")
@operation(_WRITE, object_of(NewEndpoint()), refuses=("404 not_found", "409 endpoint_is_managed"), shows_secret=True)
def rotate_webhook_secret(endpoint_id: str) -> Response:
    """Replace the signing secret at once. 200 with the endpoint and the new secret."""
    return idempotency.run_once(lambda: _rotate(endpoint_id))


def _rotate(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), named.endpoint(endpoint_id)
    rotated = manage.rotate_secret(endpoint=endpoint, now=now)
    audit.record("webhook_endpoint.secret_rotated", endpoint.id, now=now)
    return 200, {**_RECORD.dump(rotated.endpoint), "secret": rotated.secret}


@blueprint.post("/api/v1/webhooks/<endpoint_id>/test")
@operation(
    _WRITE,
    object_of(TestAnswer()),
    takes=EndpointTest(),
    refuses=("400 unknown_event", "400 sample_not_available", "400 event_not_subscribed", "404 not_found"),
)
def test_webhook_endpoint(endpoint_id: str) -> Response:
    """Send a sample event to this endpoint alone. 200 with the delivery to look for in the history."""
    answer = idempotency.run_once(lambda: _test(endpoint_id))
    wake_relay()
    return answer


def _test(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), named.endpoint(endpoint_id)
    wanted = body.load_optional()
    type = wanted["type"]
    sent = manage.send_test(endpoint=endpoint, type=type, now=now)
    event_id = events.event_id(sent.event_id)
    audit.record("webhook_endpoint.tested", endpoint.id, after={"type": type, "eventId": event_id}, now=now)
    return 200, {"deliveryId": str(sent.delivery_id), "eventId": event_id, "eventType": type, "status": "Pending"}


def _shown(rows: Sequence[WebhookEndpoint]) -> list[Any]:
    return [_RECORD.dump(row) for row in rows]
