"""Stages events for the brand's webhooks; the only way to do that.

The event is stored as the bytes that every attempt sends, in the transaction of the change that it reports: there is no
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
        body=serialize(event_uuid=event_uuid, organization_id=organization_id, type=type, data=data, at=at),
        created_at=at,
    )


def conversion_adjusted(before: Conversion, after: Conversion, *, reason: str, at: datetime) -> None:
    """Stage the event that a conversion's amount or commission changed without a refund.

    Amounts and commissions are those after refunds. Source: tracking spec, section 6, conversion.adjusted.
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
        bodies[event_uuid] = serialize(
            event_uuid=event_uuid, organization_id=organization_id, type=type, data=each, at=at
        )
    if bodies:
        outbox.stage_events(
            organization_id=organization_id,
            event_type=type,
            bodies=bodies,
            created_at=at,
        )


def serialize(*, event_uuid: UUID, organization_id: UUID, type: str, data: Mapping[str, object], at: datetime) -> str:
    """Return the envelope as the text that is signed and sent."""
    envelope = events.envelope(
        event_uuid=event_uuid, type=type, created_at=at, organization_id=organization_id, data=data
    )
    return orjson.dumps(envelope).decode()
