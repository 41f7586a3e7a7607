"""Webhook endpoints: where the brand is told what happens, and how that went.

Source: tracking spec, section 6 "Events".
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, request

from api import answers, audit, body, guards, paging, path
from api.guards import Guard, guarded
from api.wake import wake_relay
from domain import events, plans
from domain.refused import Refused
from models import db, endpoints, outbox
from pipelines import clock
from pipelines import endpoints as endpoint_rules
from schemas.paging import PageQuery
from schemas.webhook import DeliveryRecord, EndpointBody, EndpointChanges, EndpointRecord, EndpointTest

blueprint = Blueprint("webhooks", __name__)

# Endpoints outlive a plan: they keep firing, and can be looked at and removed on every one.
_READ = Guard(audience="key")
_KEEP = Guard(audience="key", scope="read_write")
_WRITE = Guard(audience="key", scope="read_write", plan=plans.Tier.Starter)

_BODY = EndpointBody()
_CHANGES = EndpointChanges()
_TEST = EndpointTest()
_RECORD = EndpointRecord()
_DELIVERY = DeliveryRecord()
_QUERY = PageQuery()
_DELIVERIES_PER_PAGE = 50

_Answer = tuple[int, Mapping[str, object]]


@blueprint.post("/api/v1/webhooks")
@guarded(_WRITE)
def create_endpoint() -> Response:
    """Create an endpoint. 201 with it and its signing secret, which is never shown again."""
    wanted = body.load(_BODY)
    refusal = endpoint_rules.refusal_of(wanted["url"])
    return answers.once(lambda: _create(wanted, refusal))


def _create(wanted: Mapping[str, Any], refusal: Refused | None) -> _Answer:
    if refusal is not None:
        raise refusal
    now = clock.now()
    made = endpoint_rules.create(organization_id=guards.organization_id(), wanted=wanted, now=now)
    shown = _RECORD.dump(made.endpoint)
    audit.record("webhook_endpoint.created", made.endpoint.id, after=shown, now=now)
    return 201, {**shown, "secret": made.secret}


@blueprint.get("/api/v1/webhooks")
@guarded(_READ)
def list_endpoints() -> Mapping[str, object]:
    """List endpoints, newest first."""
    page = paging.wanted(body.query(_QUERY))
    with db.unit_of_work(guards.organization_id()):
        rows = endpoints.page(organization_id=guards.organization_id(), after=page.after, limit=page.limit)
    return paging.envelope(page, rows, _shown)


@blueprint.get("/api/v1/webhooks/<endpoint_id>")
@guarded(_READ)
def get_endpoint(endpoint_id: str) -> Mapping[str, object]:
    """Show one endpoint."""
    with db.unit_of_work(guards.organization_id()):
        shown: Mapping[str, object] = _RECORD.dump(_find(endpoint_id))
    return shown


@blueprint.patch("/api/v1/webhooks/<endpoint_id>")
@guarded(_WRITE)
def change_endpoint(endpoint_id: str) -> Response:
    """Change URL, events or description. 200 with the endpoint."""
    with db.unit_of_work(guards.organization_id()):
        _find(endpoint_id)  # an endpoint that is not there comes before a body that is wrong
    changes = body.load(_CHANGES)
    refusal = endpoint_rules.refusal_of(changes["url"]) if "url" in changes else None
    return answers.once(lambda: _change(endpoint_id, changes, refusal))


def _change(endpoint_id: str, changes: Mapping[str, Any], refusal: Refused | None) -> _Answer:
    if refusal is not None:
        raise refusal
    now, endpoint = clock.now(), _find(endpoint_id)
    before = _RECORD.dump(endpoint)
    endpoint_rules.change(endpoint=endpoint, changes=changes, now=now)
    after = _RECORD.dump(endpoint)
    audit.record("webhook_endpoint.updated", endpoint.id, before=before, after=after, now=now)
    return 200, after


@blueprint.delete("/api/v1/webhooks/<endpoint_id>")
@guarded(_KEEP)
def delete_endpoint(endpoint_id: str) -> Response:
    """Delete an endpoint. 204."""
    now = clock.now()
    with db.unit_of_work(guards.organization_id()):
        endpoint = _find(endpoint_id)
        endpoint_rules.remove(endpoint=endpoint, now=now)
        audit.record("webhook_endpoint.deleted", endpoint.id, before=_RECORD.dump(endpoint), now=now)
    return Response(status=204)


@blueprint.post("/api/v1/webhooks/<endpoint_id>/rotate-secret")
@guarded(_WRITE)
def rotate_secret(endpoint_id: str) -> Response:
    """Replace the signing secret at once. 200 with the endpoint and the new secret."""
    return answers.once(lambda: _rotate(endpoint_id))


def _rotate(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), _find(endpoint_id)
    rotated = endpoint_rules.rotate_secret(endpoint=endpoint, now=now)
    audit.record("webhook_endpoint.secret_rotated", endpoint.id, now=now)
    return 200, {**_RECORD.dump(rotated.endpoint), "secret": rotated.secret}


@blueprint.post("/api/v1/webhooks/<endpoint_id>/test")
@guarded(_WRITE)
def test_endpoint(endpoint_id: str) -> Response:
    """Send a sample event to this endpoint alone. 200 with the delivery to look for in the history."""
    answer = answers.once(lambda: _test(endpoint_id))
    wake_relay()
    return answer


def _test(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), _find(endpoint_id)
    wanted = body.load(_TEST) if request.get_data(cache=True).strip() else _TEST.load({})
    type = wanted["type"]
    sent = endpoint_rules.send_test(endpoint=endpoint, type=type, now=now)
    event_id = events.event_id(sent.event_id)
    audit.record("webhook_endpoint.tested", endpoint.id, after={"type": type, "eventId": event_id}, now=now)
    return 200, {"deliveryId": str(sent.delivery_id), "eventId": event_id, "eventType": type, "status": "Pending"}


@blueprint.get("/api/v1/webhooks/<endpoint_id>/deliveries")
@guarded(_READ)
def list_deliveries(endpoint_id: str) -> Mapping[str, object]:
    """List an endpoint's deliveries, newest first, 50 per page."""
    page = paging.wanted(body.query(_QUERY), most=_DELIVERIES_PER_PAGE)
    with db.unit_of_work(guards.organization_id()):
        endpoint = _find(endpoint_id)
        rows = outbox.history(
            organization_id=endpoint.organization_id, endpoint_id=endpoint.id, after=page.after, limit=page.limit
        )
    return paging.envelope(page, rows, lambda shown: [_DELIVERY.dump(row) for row in shown])


@blueprint.post("/api/v1/webhooks/<endpoint_id>/deliveries/<delivery_id>/redeliver")
@guarded(_KEEP)
def redeliver(endpoint_id: str, delivery_id: str) -> Response:
    """Make one more attempt of a delivery that is settled, under the same id. 200."""
    answer = answers.once(lambda: _redeliver(endpoint_id, delivery_id))
    wake_relay()
    return answer


def _redeliver(endpoint_id: str, delivery_id: str) -> _Answer:
    now, endpoint = clock.now(), _find(endpoint_id)
    wanted_id: UUID = path.uuid(delivery_id, "delivery")
    endpoint_rules.redeliver(endpoint=endpoint, delivery_id=wanted_id, now=now)
    audit.record("delivery.redelivered", wanted_id, after={"endpointId": str(endpoint.id)}, now=now)
    return 200, {"deliveryId": str(wanted_id)}


def _find(endpoint_id: str) -> endpoints.WebhookEndpoint:
    wanted_id = path.uuid(endpoint_id, "webhook endpoint")
    return endpoint_rules.find(organization_id=guards.organization_id(), endpoint_id=wanted_id)


def _shown(rows: Sequence[endpoints.WebhookEndpoint]) -> list[Any]:
    return [_RECORD.dump(row) for row in rows]
