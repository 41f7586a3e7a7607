"""The inbox of a connection, and its counts, in the API."""

from marshmallow import fields

from domain.gateways.states import EventStatus
from schemas.base import Instant, Wire, one_of
from schemas.paging import PageQuery


class GatewayEventsQuery(PageQuery):
    """The page, and the status of the events (None: all)."""

    status = one_of(EventStatus, load_default=None)


class GatewayEventRecord(Wire):
    """One event of a gateway, and its result."""

    id = fields.UUID()
    gateway_event_id = fields.String(allow_none=True)
    type = fields.String()
    status = one_of(EventStatus)
    reason = fields.String(allow_none=True)
    conversion_ids = fields.List(fields.UUID())
    received_at = Instant()
    processed_at = Instant(allow_none=True)
    error = fields.String(allow_none=True)


class ConnectionStatsRecord(Wire):
    """The counts of a connection's events."""

    received = fields.Integer()
    credited = fields.Integer()
    unreferred = fields.Integer()
    refunds = fields.Integer()
    failed = fields.Integer()
    parked = fields.Integer()


class ReconcileBody(Wire):
    """The time since which the gateway's payments and refunds are listed."""

    since = Instant(load_default=None, allow_none=True)


class ReconcileAnswer(Wire):
    """The job that lists them."""

    job_id = fields.String()
