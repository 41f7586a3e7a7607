"""Webhook endpoints: where the brand is told what happens, and how that went.

Source: tracking spec, section 6 "Events".
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import answers, audit, body, paging, path
from api.edge.operations import one, operation, page
from api.edge.wake import wake_relay
from domain.organization import plans
from domain.refused import Refused
from domain.webhooks import events
from models import db
from models.webhooks import endpoints, outbox
from models.webhooks.endpoints import WebhookEndpoint
from models.webhooks.redeliveries import DeliveryWindow
from pipelines.webhooks import manage, redelivery
from schemas.paging import PageQuery
from schemas.webhooks.webhook import (
    DeliveryRecord,
    EndpointBody,
    EndpointChanges,
    EndpointRecord,
    EndpointTest,
    NewEndpoint,
    RedeliveryAnswer,
    RedeliveryPortion,
    RedeliveryWindow,
    TestAnswer,
)

blueprint = Blueprint("webhooks", __name__)

# Endpoints outlive a plan: they keep firing, and can be looked at and removed on every one.
_READ = Guard(audience="brand")
_KEEP = Guard(audience="brand", scope="read_write")
_WRITE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter)

_RECORD = EndpointRecord()
_DELIVERY = DeliveryRecord()
_PORTION = RedeliveryPortion()
_DELIVERIES_PER_PAGE = 50
_URL_REFUSALS = ("400 invalid_url", "400 https_required", "400 url_not_allowed")

_Answer = tuple[int, Mapping[str, object]]


@blueprint.post("/api/v1/webhooks")
@operation(
    _WRITE,
    one(NewEndpoint()),
    shows_secret=True,
    status=201,
    takes=EndpointBody(),
    refuses=(*_URL_REFUSALS, "400 unknown_event", "400 endpoint_already_exists", "400 webhook_limit_reached"),
)
def create_webhook_endpoint() -> Response:
    """Create an endpoint. 201 with it and its signing secret, which is never shown again."""
    wanted = body.load()
    refusal = manage.refusal_of(wanted["url"])
    return answers.once(lambda: _create(wanted, refusal))


def _create(wanted: Mapping[str, Any], refusal: Refused | None) -> _Answer:
    if refusal is not None:
        raise refusal
    now = clock.now()
    made = manage.create(organization_id=guards.organization_id(), wanted=wanted, now=now)
    shown = _RECORD.dump(made.endpoint)
    audit.record("webhook_endpoint.created", made.endpoint.id, after=shown, now=now)
    return 201, {**shown, "secret": made.secret}


@blueprint.get("/api/v1/webhooks")
@operation(_READ, page(_RECORD), asks=PageQuery())
def list_webhook_endpoints() -> Mapping[str, object]:
    """List endpoints, newest first."""
    asked = paging.wanted(body.query())
    with db.unit_of_work(guards.organization_id()):
        rows = endpoints.page(organization_id=guards.organization_id(), after=asked.after, limit=asked.limit)
    return paging.envelope(asked, rows, _shown)


@blueprint.get("/api/v1/webhooks/<endpoint_id>")
@operation(_READ, one(_RECORD), refuses=("404 not_found",))
def get_webhook_endpoint(endpoint_id: str) -> Mapping[str, object]:
    """Show one endpoint."""
    with db.unit_of_work(guards.organization_id()):
        shown: Mapping[str, object] = _RECORD.dump(_find(endpoint_id))
    return shown


@blueprint.patch("/api/v1/webhooks/<endpoint_id>")
@operation(
    _WRITE,
    one(_RECORD),
    takes=EndpointChanges(),
    refuses=(*_URL_REFUSALS, "400 unknown_event", "400 endpoint_already_exists", "404 not_found"),
)
def change_webhook_endpoint(endpoint_id: str) -> Response:
    """Change URL, events or description. 200 with the endpoint."""
    with db.unit_of_work(guards.organization_id()):
        _find(endpoint_id)  # an endpoint that is not there comes before a body that is wrong
    changes = body.load()
    refusal = manage.refusal_of(changes["url"]) if "url" in changes else None
    return answers.once(lambda: _change(endpoint_id, changes, refusal))


def _change(endpoint_id: str, changes: Mapping[str, Any], refusal: Refused | None) -> _Answer:
    if refusal is not None:
        raise refusal
    now, endpoint = clock.now(), _find(endpoint_id)
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
        endpoint = _find(endpoint_id)
        manage.remove(endpoint=endpoint, now=now)
        audit.record("webhook_endpoint.deleted", endpoint.id, before=_RECORD.dump(endpoint), now=now)
    return Response(status=204)


@blueprint.post("/api/v1/webhooks/<endpoint_id>/rotate-secret")
@operation(_WRITE, one(NewEndpoint()), refuses=("404 not_found",), shows_secret=True)
def rotate_webhook_secret(endpoint_id: str) -> Response:
    """Replace the signing secret at once. 200 with the endpoint and the new secret."""
    return answers.once(lambda: _rotate(endpoint_id))


def _rotate(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), _find(endpoint_id)
    rotated = manage.rotate_secret(endpoint=endpoint, now=now)
    audit.record("webhook_endpoint.secret_rotated", endpoint.id, now=now)
    return 200, {**_RECORD.dump(rotated.endpoint), "secret": rotated.secret}


@blueprint.post("/api/v1/webhooks/<endpoint_id>/test")
@operation(
    _WRITE,
    one(TestAnswer()),
    takes=EndpointTest(),
    refuses=("400 unknown_event", "400 event_not_subscribed", "404 not_found"),
)
def test_webhook_endpoint(endpoint_id: str) -> Response:
    """Send a sample event to this endpoint alone. 200 with the delivery to look for in the history."""
    answer = answers.once(lambda: _test(endpoint_id))
    wake_relay()
    return answer


def _test(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), _find(endpoint_id)
    wanted = body.load_optional()
    type = wanted["type"]
    sent = manage.send_test(endpoint=endpoint, type=type, now=now)
    event_id = events.event_id(sent.event_id)
    audit.record("webhook_endpoint.tested", endpoint.id, after={"type": type, "eventId": event_id}, now=now)
    return 200, {"deliveryId": str(sent.delivery_id), "eventId": event_id, "eventType": type, "status": "Pending"}


@blueprint.get("/api/v1/webhooks/<endpoint_id>/deliveries")
@operation(_READ, page(_DELIVERY), asks=PageQuery(), refuses=("404 not_found",))
def list_webhook_deliveries(endpoint_id: str) -> Mapping[str, object]:
    """List an endpoint's deliveries, newest first, 50 per page."""
    asked = paging.wanted(body.query(), most=_DELIVERIES_PER_PAGE)
    with db.unit_of_work(guards.organization_id()):
        endpoint = _find(endpoint_id)
        rows = outbox.history(
            organization_id=endpoint.organization_id, endpoint_id=endpoint.id, after=asked.after, limit=asked.limit
        )
    return paging.envelope(asked, rows, lambda shown: [_DELIVERY.dump(row) for row in shown])


@blueprint.post("/api/v1/webhooks/<endpoint_id>/deliveries/<delivery_id>/redeliver")
@operation(_KEEP, one(RedeliveryAnswer()), refuses=("404 not_found", "409 invalid_status_transition"))
def redeliver_webhook_delivery(endpoint_id: str, delivery_id: str) -> Response:
    """Make one more attempt of a delivery that is settled, under the same id. 200."""
    answer = answers.once(lambda: _redeliver(endpoint_id, delivery_id))
    wake_relay()
    return answer


def _redeliver(endpoint_id: str, delivery_id: str) -> _Answer:
    now, endpoint = clock.now(), _find(endpoint_id)
    wanted_id: UUID = path.uuid(delivery_id, "delivery")
    manage.redeliver(endpoint=endpoint, delivery_id=wanted_id, now=now)
    audit.record("delivery.redelivered", wanted_id, after={"endpointId": str(endpoint.id)}, now=now)
    return 200, {"deliveryId": str(wanted_id)}


@blueprint.post("/api/v1/webhooks/<endpoint_id>/redeliver")
@operation(_KEEP, one(RedeliveryPortion()), status=202, takes=RedeliveryWindow(), refuses=("404 not_found",))
def redeliver_webhook_deliveries(endpoint_id: str) -> Response:
    """Make one more attempt of every delivery of a window, up to 1,000 per call and ten a second. 202.

    Each goes out under its own id with its own body. While `hasMore`, send it again with `nextCursor` as `cursor`.
    """
    answer = answers.once(lambda: _redeliver_window(endpoint_id))
    wake_relay()
    return answer


def _redeliver_window(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), _find(endpoint_id)
    wanted = body.load()
    window = DeliveryWindow(
        organization_id=endpoint.organization_id,
        endpoint_id=endpoint.id,
        since=wanted["since"],
        until=wanted["until"] or now,
        status=wanted["status"],
    )
    portion = redelivery.start(window, after=paging.position(wanted["cursor"]), now=now)
    shown = _PORTION.dump(
        {
            "count": portion.count,
            "last_at": portion.last_at,
            "next_cursor": paging.cursor(*portion.next_after) if portion.next_after else None,
            "has_more": portion.next_after is not None,
        }
    )
    done = {**window.shown(), "count": portion.count}
    audit.record("webhook_endpoint.redelivered", endpoint.id, after=done, now=now)
    return 202, shown


def _find(endpoint_id: str) -> WebhookEndpoint:
    wanted_id = path.uuid(endpoint_id, "webhook endpoint")
    return manage.find(organization_id=guards.organization_id(), endpoint_id=wanted_id)


def _shown(rows: Sequence[WebhookEndpoint]) -> list[Any]:
    return [_RECORD.dump(row) for row in rows]
