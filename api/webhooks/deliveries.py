"""Deliveries of a webhook endpoint: requests, responses, and redelivery.

Source: tracking spec, section 6 "Events".
"""

from collections.abc import Mapping

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from api.webhooks.endpoints import find_endpoint
from domain.refusals import not_found
from models import db
from models.webhooks import attempts, outbox
from models.webhooks.outbox import DeliveryFilters
from models.webhooks.redeliveries import DeliveryWindow
from pipelines.webhooks import deliver, manage, redelivery
from schemas.webhooks.webhook import (
    DeliveryQuery,
    RedeliveryAnswer,
    RedeliveryPortion,
    RedeliveryWindow,
    SentEvent,
    WebhookAttemptRecord,
    WebhookDeliveryDetail,
    WebhookDeliveryRecord,
)

blueprint = Blueprint("webhook_deliveries", __name__)

# Endpoints outlive a plan: their deliveries can be read and redelivered on every plan.
_READ = Guard(audience="brand")
_KEEP = Guard(audience="brand", scope="read_write")

_DELIVERY = WebhookDeliveryRecord()
_EVENT, _ATTEMPT = SentEvent(), WebhookAttemptRecord()
_PORTION = RedeliveryPortion()
_DELIVERIES_PER_PAGE = 50

_Answer = tuple[int, Mapping[str, object]]


@blueprint.get("/api/v1/webhooks/<endpoint_id>/deliveries")
@operation(_READ, page(_DELIVERY), asks=DeliveryQuery(), refuses=("404 not_found",), may_lag="answer")
def list_webhook_deliveries(endpoint_id: str) -> Mapping[str, object]:
    """List an endpoint's deliveries, newest first, 50 per page; filtered by status, type and time."""
    query = body.query()
    page_request = paging.read_page_request(query, max_take=_DELIVERIES_PER_PAGE)
    with db.unit_of_work(guards.organization_id()):
        endpoint = find_endpoint(endpoint_id)
        rows = outbox.list_deliveries(
            organization_id=endpoint.organization_id,
            endpoint_id=endpoint.id,
            filters=DeliveryFilters(
                status=query["status"],
                event_type=query["event_type"],
                since=query["since"],
                until=query["until"],
            ),
            **page_request.window,
        )
    return paging.serialize_page(page_request, rows, lambda rows: [_DELIVERY.dump(row) for row in rows])


@blueprint.get("/api/v1/webhooks/<endpoint_id>/deliveries/<delivery_id>")
@operation(_READ, object_of(WebhookDeliveryDetail()), refuses=("404 not_found",))
def get_webhook_delivery(endpoint_id: str, delivery_id: str) -> Mapping[str, object]:
    """Show one delivery: the body, the headers, and the outcome of each attempt. 5 round trips.

    `X-Service-Timestamp` and `X-Service-Signature` are computed for each attempt with the current secret. They are not
    among the headers: with them, a reader of the history could send the event in the name of this service.
    """
    with db.unit_of_work(guards.organization_id()):
        endpoint = find_endpoint(endpoint_id)
        wanted_id = path.uuid(delivery_id, "delivery")
        delivery = attempts.find_delivery(
            organization_id=endpoint.organization_id, endpoint_id=endpoint.id, delivery_id=wanted_id
        )
        if delivery is None:
            raise not_found("delivery", wanted_id)
        event = attempts.find_event(organization_id=endpoint.organization_id, event_id=delivery.event_id)
        made_attempts = attempts.list_of_delivery(delivery, organization_id=endpoint.organization_id)
    return {
        **_DELIVERY.dump(delivery),
        "url": endpoint.url,
        "event": _EVENT.dump(event),
        "headers": deliver.build_headers(event_type=delivery.event_type, delivery_id=delivery.id),
        "attempts": _ATTEMPT.dump(made_attempts, many=True),
    }


@blueprint.post("/api/v1/webhooks/<endpoint_id>/deliveries/<delivery_id>/redeliver")
@operation(_KEEP, object_of(RedeliveryAnswer()), refuses=("404 not_found", "409 invalid_status_transition"))
def redeliver_webhook_delivery(endpoint_id: str, delivery_id: str) -> Response:
    """Make one more attempt of a delivery under the same id, at once, even if a retry is scheduled. 200."""
    return idempotency.run_once(lambda: _redeliver(endpoint_id, delivery_id), wakes_relay=True)


def _redeliver(endpoint_id: str, delivery_id: str) -> _Answer:
    now, endpoint = clock.now(), find_endpoint(endpoint_id)
    wanted_id = path.uuid(delivery_id, "delivery")
    manage.redeliver(endpoint=endpoint, delivery_id=wanted_id, now=now)
    audit.record("delivery.redelivered", wanted_id, after={"endpointId": str(endpoint.id)}, now=now)
    return 200, {"deliveryId": str(wanted_id)}


@blueprint.post("/api/v1/webhooks/<endpoint_id>/redeliver")
@operation(_KEEP, object_of(RedeliveryPortion()), status=202, takes=RedeliveryWindow(), refuses=("404 not_found",))
def redeliver_webhook_deliveries(endpoint_id: str) -> Response:
    """Make one more attempt of every delivery in a time window, up to 1,000 per call and ten a second. 202.

    Each is sent under its own id with its own body. While `hasMore`, repeat the request with `nextCursor` as `cursor`.
    """
    return idempotency.run_once(lambda: _redeliver_window(endpoint_id), wakes_relay=True)


def _redeliver_window(endpoint_id: str) -> _Answer:
    now, endpoint = clock.now(), find_endpoint(endpoint_id)
    values = body.load()
    window = DeliveryWindow(
        organization_id=endpoint.organization_id,
        endpoint_id=endpoint.id,
        since=values["since"],
        until=values["until"] or now,
        status=values["status"],
    )
    portion = redelivery.start(window, after=paging.position_from_cursor(values["cursor"]), now=now)
    record = _PORTION.dump(
        {
            "count": portion.count,
            "last_at": portion.last_at,
            "next_cursor": paging.sign_cursor(*portion.next_after) if portion.next_after else None,
            "has_more": portion.next_after is not None,
        }
    )
    details = {**window.audit_values(), "count": portion.count}
    audit.record("webhook_endpoint.redelivered", endpoint.id, after=details, now=now)
    return 202, record
