"""What an event looks like, for whoever builds a workflow on it before it happens.

Source: tracking spec, "Retry semantics" (the trigger events have realistic samples).
"""

from datetime import datetime
from uuid import UUID, uuid5

from domain.webhooks import events
from models.webhooks import latest
from pipelines.webhooks import emit


def of_type(*, organization_id: UUID, type: str, limit: int, now: datetime) -> list[str]:
    """Return envelopes as texts, byte for byte as they were sent: the newest ones of one of the nine trigger types.

    An organization in which none has happened gets the built-in one, under the same id each time. One round trip.
    """
    sent = latest.of_type(organization_id=organization_id, event_type=type, limit=limit)
    if sent:
        return sent
    sample = emit.serialize(
        event_uuid=uuid5(organization_id, type),
        organization_id=organization_id,
        type=type,
        data=events.sample(type),
        at=now,
    )
    return [sample]
