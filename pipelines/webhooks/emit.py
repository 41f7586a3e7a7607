"""The one way to tell the brand that something happened.

The event is frozen here, as the bytes every attempt will send, in the transaction of what it reports: there is no
change without its event and no event without its change.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

import orjson

from domain.webhooks import events
from models import ids
from models.webhooks import outbox


def event(*, organization_id: UUID, type: str, data: Mapping[str, object], at: datetime) -> None:
    """Stage an event with a delivery and a job for every endpoint that subscribes to its type."""
    event_uuid = ids.new_id()
    outbox.stage_event(
        organization_id=organization_id,
        event_id=event_uuid,
        event_type=type,
        body=frozen(event_uuid=event_uuid, organization_id=organization_id, type=type, data=data, at=at),
        created_at=at,
    )


def events_of_type(*, organization_id: UUID, type: str, data: Iterable[Mapping[str, object]], at: datetime) -> None:
    """Stage many events of one type as `event` does one, in one statement."""
    bodies = {}
    for each in data:
        event_uuid = ids.new_id()
        bodies[event_uuid] = frozen(event_uuid=event_uuid, organization_id=organization_id, type=type, data=each, at=at)
    if bodies:
        outbox.stage_events(
            organization_id=organization_id,
            event_type=type,
            bodies=bodies,
            created_at=at,
        )


def frozen(*, event_uuid: UUID, organization_id: UUID, type: str, data: Mapping[str, object], at: datetime) -> str:
    """Return the envelope as the text that is signed and sent."""
    envelope = events.envelope(
        event_uuid=event_uuid, type=type, created_at=at, organization_id=organization_id, data=data
    )
    return orjson.dumps(envelope).decode()
