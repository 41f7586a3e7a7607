"""The newest events, as they were sent."""

from uuid import UUID

from models.db import db

_OF_TYPE = """
select body from event where organization_id = %s and type = %s and not is_sample
order by created_at desc, id desc limit %s
"""


def list_of_type(*, organization_id: UUID, event_type: str, limit: int) -> list[str]:
    """Return the bodies of up to `limit` events of a type, newest first, without tests. One round trip."""
    return [body for (body,) in db.run(_OF_TYPE, (organization_id, event_type, limit))]
