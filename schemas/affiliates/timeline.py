"""The timeline of an affiliate in the API. An addition to the interface."""

from marshmallow import fields

from domain.affiliates.timeline import EventKind
from schemas.base import Instant, Wire, one_of


class TimelineActorRecord(Wire):
    """Who did it: `name` is the email of a person, or the name of an API key or command.

    API keys do not see the email of a person.
    """

    type = fields.String()
    name = fields.String(allow_none=True)


class TimelineChangeRecord(Wire):
    """A changed field, with both values as text; null is no value. The text of notes is not repeated."""

    field = fields.String()
    before = fields.String(allow_none=True)
    after = fields.String(allow_none=True)


class TimelineEventRecord(Wire):
    """An event in the history of an affiliate.

    `actor` is null if no one is known: the service did it by itself, or only its time was recorded.
    """

    id = fields.UUID()
    type = one_of(EventKind)
    at = Instant()
    actor = fields.Nested(TimelineActorRecord, allow_none=True)
    changes = fields.List(fields.Nested(TimelineChangeRecord))
    reason = fields.String(allow_none=True)
    subject = fields.String(allow_none=True)
    payout_id = fields.UUID(allow_none=True)
    conversion_id = fields.UUID(allow_none=True)
    amount_cents = fields.Integer(allow_none=True)
    currency = fields.String(allow_none=True)
