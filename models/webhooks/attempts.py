"""Attempts of a delivery with their results, and the event that they sent."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from models.table import Rows, columns
from models.webhooks.outbox import Delivery


@dataclass(frozen=True, slots=True)
class DeliveredEvent:
    """An event with the exact `body` that every attempt sends."""

    id: UUID
    type: str
    created_at: datetime
    body: str


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """An attempt with its result: a status with the start of the response body, or the reason for no response."""

    number: int
    began_at: datetime
    ended_at: datetime
    response_status: int | None
    response_excerpt: str | None
    failure_reason: str | None

    @property
    def duration_ms(self) -> int:
        """The duration of the attempt in milliseconds."""
        return (self.ended_at - self.began_at) // timedelta(milliseconds=1)


_DELIVERIES, _EVENTS, _ATTEMPTS = Rows(Delivery), Rows(DeliveredEvent), Rows(PastAttempt)
_DELIVERY = f"select {columns(Delivery)} from delivery where organization_id = %s and endpoint_id = %s and id = %s"
_EVENT = f"select {columns(DeliveredEvent)} from event where organization_id = %s and id = %s"
_OF_DELIVERY = f"""
select {columns(PastAttempt)} from delivery_attempt
where organization_id = %s and event_id = %s and delivery_id = %s order by number desc
"""


def find_delivery(*, organization_id: UUID, endpoint_id: UUID, delivery_id: UUID) -> Delivery | None:
    """Return one delivery of an endpoint."""
    return _DELIVERIES.first(_DELIVERY, (organization_id, endpoint_id, delivery_id))


def find_event(*, organization_id: UUID, event_id: UUID) -> DeliveredEvent:
    """Return the event of a delivery; it exists as long as its delivery."""
    delivered_event = _EVENTS.first(_EVENT, (organization_id, event_id))
    assert delivered_event is not None
    return delivered_event


def list_of_delivery(delivery: Delivery, *, organization_id: UUID) -> list[PastAttempt]:
    """Return the finished attempts of a delivery, newest first."""
    return _ATTEMPTS.all(_OF_DELIVERY, (organization_id, delivery.event_id, delivery.id))
