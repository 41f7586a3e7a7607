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
from models.conversions.conversions import Conversion
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


def conversion_adjusted(before: Conversion, after: Conversion, *, reason: str, at: datetime) -> None:
    """Stage the event that a conversion's amount or commission changed without a refund.

    Amounts and commissions are what refunds left of them. Source: tracking spec, section 6, conversion.adjusted.
    """
    data = events.conversion_adjusted(
        conversion_id=before.id,
        affiliate_id=before.affiliate_id,
        program_id=before.program_id,
        amount_cents=after.amount_cents - after.refunded_cents,
        previous_amount_cents=before.amount_cents - before.refunded_cents,
        currency=before.currency,
        commission_cents=after.net_commission_cents,
        previous_commission_cents=before.net_commission_cents,
        status=after.status,
        previous_status=before.status,
        reason=reason,
        attribution_method=before.attribution_method,
        parent_affiliate_conversion_id=before.parent_id,
    )
    event(organization_id=before.organization_id, type="conversion.adjusted", data=data, at=at)


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
