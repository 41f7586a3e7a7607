"""Webhook endpoints and their deliveries on the wire.

Source: tracking spec, section 6 "Events" and "Webhook delivery".
"""

from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain import statuses
from domain.refused import Refused
from domain.webhooks import events
from schemas.base import Instant, Wire, bearer_secret, line, one_of, text
from schemas.bounded import Items
from schemas.paging import PageQuery, QueryFlag

# Whether a URL may be called is decided elsewhere, with codes of its own; this only keeps it a text.
_LONGEST_TEXT = 65_536
_SUBSCRIBABLE = ("*", *events.TYPES)
_SENDABLE = ("test", *events.TESTABLE)


def _events(**options: Any) -> Items:
    # There are 24 types; somebody who lists each a few times over still means something. An unknown type is refused
    # with a code of its own, so the names are described here and checked below.
    name = text(longest=100, metadata={"enum": [*_SUBSCRIBABLE]})
    return Items(name, most=100, least=1, **options)


def _description(**options: Any) -> fields.String:
    return line(longest=500, allow_none=True, **options)


class EndpointBody(Wire):
    """A new endpoint. Refuses event names that do not exist as `unknown_event`, with the list `invalid`."""

    url = text(longest=_LONGEST_TEXT, required=True)
    events = _events(required=True)
    description = _description(load_default=None)

    @post_load
    def _settle(self, endpoint: dict[str, Any], **_: object) -> dict[str, Any]:
        return _settled(endpoint)


class EndpointChanges(Wire):
    """Changes of an endpoint: what is sent is set, a null description takes it away."""

    url = text(longest=_LONGEST_TEXT)
    events = _events()
    description = _description()

    @post_load
    def _settle(self, changes: dict[str, Any], **_: object) -> dict[str, Any]:
        return _settled(changes)


class EndpointsQuery(PageQuery):
    """The list's filter: with `managed` the hooks of no-code platforms alone, or the brand's own endpoints alone."""

    managed = QueryFlag(load_default=None)


class EndpointTest(Wire):
    """Which sample to send; without a type the generic `test`."""

    type = text(longest=100, load_default=None, allow_none=True, metadata={"enum": [*_SENDABLE, None]})

    @post_load
    def _settle(self, test: dict[str, Any], **_: object) -> dict[str, Any]:
        return {"type": test["type"] or "test"}


class EndpointRecord(Wire):
    """An endpoint, without its secret."""

    wire_name = "WebhookEndpoint"

    id = fields.UUID()
    url = fields.String()
    events = fields.List(one_of(_SUBSCRIBABLE))
    description = fields.String(allow_none=True)
    failing_since = Instant(allow_none=True)
    managed_by = one_of(("automation",), allow_none=True)
    created_at = Instant()
    updated_at = Instant()


class NewEndpoint(EndpointRecord):
    """An endpoint at the moment when its secret is shown."""

    wire_name = "NewWebhookEndpoint"

    secret = bearer_secret(found_at="A person makes or rotates it under Webhooks on the dashboard.")


class TestAnswer(Wire):
    """Where the test will be found in the history."""

    wire_name = "WebhookTestAnswer"

    delivery_id = fields.UUID()
    event_id = fields.String()
    event_type = one_of(_SENDABLE)
    status = one_of(statuses.DeliveryStatus)


class RedeliveryAnswer(Wire):
    """The delivery that is tried again."""

    delivery_id = fields.UUID()


class RedeliveryWindow(Wire):
    """Which deliveries are sent again: those made from `since` until before `until` (None: now) that stand at `status`.

    `cursor` goes on where an earlier answer ended.
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
    """How many deliveries were queued, and when the last of them is due; a cursor while there are more."""

    count = fields.Integer()
    last_attempt_at = Instant(attribute="last_at", allow_none=True)
    next_cursor = fields.String(allow_none=True)
    has_more = fields.Boolean()


class DeliveryRecord(Wire):
    """One line of an endpoint's delivery history."""

    wire_name = "WebhookDelivery"

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
    """Which deliveries: with this status, of this type, made from `since` until before `until`."""

    status = one_of(statuses.DeliveryStatus, load_default=None)
    event_type = one_of(("test", *events.TYPES), load_default=None)
    since = Instant(load_default=None)
    until = Instant(load_default=None)


class SentEvent(Wire):
    """The event of a delivery; `body` is the text that every attempt sends, byte for byte."""

    id = fields.Function(lambda event: events.event_id(event.id))
    type = one_of(("test", *events.TYPES))
    created_at = Instant()
    body = fields.String()


class AttemptRecord(Wire):
    """An attempt and what came back. One whose sender broke off in the middle has none; then a number is left out."""

    wire_name = "WebhookAttempt"

    number = fields.Integer()
    began_at = Instant()
    duration_ms = fields.Integer()
    response_status = fields.Integer(allow_none=True)
    response_excerpt = fields.String(allow_none=True)
    failure_reason = fields.String(allow_none=True)


class WholeDelivery(DeliveryRecord):
    """A delivery with what was sent, the headers that all its attempts have alike, and its attempts, latest first."""

    wire_name = "WebhookDeliveryDetail"

    url = fields.String()
    event = fields.Nested(SentEvent)
    headers = fields.Dict(keys=fields.String(), values=fields.String())
    attempts = fields.List(fields.Nested(AttemptRecord))


def _settled(endpoint: dict[str, Any]) -> dict[str, Any]:
    if "events" in endpoint:
        endpoint["events"] = list(dict.fromkeys(endpoint["events"]))
        unknown = events.unknown_types(endpoint["events"])
        if unknown:
            message = f"Some of these are no event types. Subscribe to *, or to some of: {', '.join(events.TYPES)}."
            raise Refused(400, "unknown_event", message, field="events", invalid=unknown, valid=[*_SUBSCRIBABLE])
    return endpoint
