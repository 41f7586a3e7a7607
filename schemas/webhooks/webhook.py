"""Webhook endpoints and their deliveries in the API.

Source: tracking spec, section 6 "Events" and "Webhook delivery".
"""

from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain import statuses
from domain.refusals import Refused
from domain.webhooks import events
from schemas.base import Instant, Wire, bearer_secret, line, one_of, text
from schemas.collection_fields import Items
from schemas.paging import PageQuery, QueryFlag

# Whether a URL may be called is decided elsewhere, with codes of its own; this only limits the text.
_MAX_TEXT_CHARS = 65_536
_SUBSCRIBABLE = ("*", *events.TYPES)
_SENDABLE = ("test", *events.TESTABLE)


def _events(**options: Any) -> Items:
    # There are 24 types; repeated ones are accepted. An unknown type is refused with a code of its own, so the names
    # are described here and checked below.
    name = text(longest=100, metadata={"enum": [*_SUBSCRIBABLE]})
    return Items(name, most=100, least=1, **options)


def _description(**options: Any) -> fields.String:
    return line(longest=500, allow_none=True, **options)


class EndpointBody(Wire):
    """A new endpoint. Refuses event names that do not exist as `unknown_event`, with the list `invalid`."""

    url = text(longest=_MAX_TEXT_CHARS, required=True)
    events = _events(required=True)
    description = _description(load_default=None)

    @post_load
    def _settle(self, endpoint: dict[str, Any], **_: object) -> dict[str, Any]:
        return _check_events(endpoint)


class EndpointChanges(Wire):
    """Changes of an endpoint: sent fields are set, a null description removes it."""

    url = text(longest=_MAX_TEXT_CHARS)
    events = _events()
    description = _description()

    @post_load
    def _settle(self, changes: dict[str, Any], **_: object) -> dict[str, Any]:
        return _check_events(changes)


class EndpointsQuery(PageQuery):
    """The filter of the list: `managed` selects the hooks of no-code platforms, or the brand's own endpoints."""

    managed = QueryFlag(load_default=None)


class EndpointTest(Wire):
    """The sample to send; without a type the generic `test`."""

    type = text(longest=100, load_default=None, allow_none=True, metadata={"enum": [*_SENDABLE, None]})

    @post_load
    def _settle(self, test: dict[str, Any], **_: object) -> dict[str, Any]:
        return {"type": test["type"] or "test"}


class WebhookEndpointRecord(Wire):
    """An endpoint, without its secret."""

    id = fields.UUID()
    url = fields.String()
    events = fields.List(one_of(_SUBSCRIBABLE))
    description = fields.String(allow_none=True)
    failing_since = Instant(allow_none=True)
    managed_by = one_of(("automation",), allow_none=True)
    created_at = Instant()
    updated_at = Instant()


class NewWebhookEndpoint(WebhookEndpointRecord):
    """An endpoint with its secret, which is shown only once."""

    secret = bearer_secret(found_at="A person makes or rotates it under Webhooks on the dashboard.")


class WebhookTestAnswer(Wire):
    """The delivery of the test in the history."""

    delivery_id = fields.UUID()
    event_id = fields.String()
    event_type = one_of(_SENDABLE)
    status = one_of(statuses.DeliveryStatus)


class RedeliveryAnswer(Wire):
    """The retried delivery."""

    delivery_id = fields.UUID()


class RedeliveryWindow(Wire):
    """The deliveries to send again: those from `since` until before `until` (None: now) with this `status`.

    `cursor` continues where an earlier response ended.
    """

    since = Instant(required=True)
    until = Instant(load_default=None, allow_none=True)
    status = one_of(
        (statuses.DeliveryStatus.Failed, statuses.DeliveryStatus.Delivered),
        load_default=statuses.DeliveryStatus.Failed.value,
    )
    cursor = text(longest=200, load_default=None, allow_none=True)

    @post_load
    def _settle(self, window: dict[str, Any], **_: object) -> dict[str, Any]:
        if window["until"] is not None and window["until"] <= window["since"]:
            raise ValidationError("It must be after since.", "until")
        return window


class RedeliveryPortion(Wire):
    """The number of queued deliveries, and when the last of them is due; a cursor while there are more."""

    count = fields.Integer()
    last_attempt_at = Instant(attribute="last_at", allow_none=True)
    next_cursor = fields.String(allow_none=True)
    has_more = fields.Boolean()


class WebhookDeliveryRecord(Wire):
    """One line of an endpoint's delivery history."""

    id = fields.UUID()
    event_id = fields.Function(lambda delivery: events.event_id(delivery.event_id))
    event_type = one_of(("test", *events.TYPES))
    status = one_of(statuses.DeliveryStatus)
    attempt_count = fields.Integer()
    response_status = fields.Integer(allow_none=True)
    response_excerpt = fields.String(allow_none=True)
    failure_reason = fields.String(allow_none=True)
    next_attempt_at = Instant(allow_none=True)
    created_at = Instant()
    settled_at = Instant(allow_none=True)


class DeliveryQuery(PageQuery):
    """The filters of deliveries: status, type, and a time from `since` until before `until`."""

    status = one_of(statuses.DeliveryStatus, load_default=None)
    event_type = one_of(("test", *events.TYPES), load_default=None)
    since = Instant(load_default=None)
    until = Instant(load_default=None)


class SentEvent(Wire):
    """The event of a delivery; `body` is the exact text that every attempt sends."""

    id = fields.Function(lambda event: events.event_id(event.id))
    type = one_of(("test", *events.TYPES))
    created_at = Instant()
    body = fields.String()


class WebhookAttemptRecord(Wire):
    """An attempt and its response. An interrupted attempt is missing, with a gap in the numbers."""

    number = fields.Integer()
    began_at = Instant()
    duration_ms = fields.Integer()
    response_status = fields.Integer(allow_none=True)
    response_excerpt = fields.String(allow_none=True)
    failure_reason = fields.String(allow_none=True)


class WebhookDeliveryDetail(WebhookDeliveryRecord):
    """A delivery with its event, the common headers of its attempts, and its attempts, latest first."""

    url = fields.String()
    event = fields.Nested(SentEvent)
    headers = fields.Dict(keys=fields.String(), values=fields.String())
    attempts = fields.List(fields.Nested(WebhookAttemptRecord))


def _check_events(endpoint: dict[str, Any]) -> dict[str, Any]:
    if "events" in endpoint:
        endpoint["events"] = list(dict.fromkeys(endpoint["events"]))
        unknown = events.unknown_types(endpoint["events"])
        if unknown:
            message = f"Unknown event types. Subscribe to *, or to some of: {', '.join(events.TYPES)}."
            raise Refused(400, "unknown_event", message, field="events", invalid=unknown, valid=[*_SUBSCRIBABLE])
    return endpoint
