"""Sample events, for building a workflow before a real event has happened.

Source: tracking spec, "Retry semantics" (the trigger events have realistic samples).
"""

from datetime import datetime
from uuid import UUID, uuid5

from domain.webhooks import events
from models.webhooks import recent_events
from pipelines.webhooks import emit


def list_samples(*, organization_id: UUID, type: str, limit: int, now: datetime) -> list[str]:
    """Return the newest envelopes of one of the nine trigger types, byte for byte as they were sent.

    An organization without such an event gets the built-in sample, with the same id each time. One round trip.
    """
    envelopes = recent_events.list_of_type(organization_id=organization_id, event_type=type, limit=limit)
    if envelopes:
        return envelopes
    sample = emit.serialize(
        event_uuid=uuid5(organization_id, type),
        organization_id=organization_id,
        type=type,
        data=events.sample(type),
        at=now,
    )
    return [sample]
