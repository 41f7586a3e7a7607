"""A brand's decisions on fraud events: each is closed once.

Source: core spec, "Click and lead fraud review".
"""

import dataclasses
from datetime import datetime
from uuid import UUID

from domain.refusals import Refused, not_found
from models.fraud import events
from models.fraud.events import FraudEvent

# The status of an event after each action of the API.
_CLOSED_AS = {"resolve": "resolved", "dismiss": "dismissed"}


def find(*, organization_id: UUID, event_id: UUID) -> FraudEvent:
    """Return an event of the organization or refuse with 404 not_found."""
    event = events.find(organization_id=organization_id, event_id=event_id)
    if event is None:
        raise not_found("fraud event", event_id)
    return event


def close(*, event: FraudEvent, action: str, by: UUID, now: datetime) -> FraudEvent:
    """Resolve or dismiss an open event and return the new row. `by` is the member.

    Raises Refused: 409 invalid_status_transition if it is closed, also by a concurrent request.
    """
    status = _CLOSED_AS[action]
    if not events.close(organization_id=event.organization_id, event_id=event.id, status=status, by=by, at=now):
        message = f"Only an open fraud event can be {status}; this one is closed."
        raise Refused(409, "invalid_status_transition", message)
    return dataclasses.replace(event, status=status, resolved_at=now, resolved_by=by)
