"""Events come in: each kept once, with the job that works on it, in one transaction."""

from collections.abc import Sequence
from datetime import datetime

from adapters.gateways.base import GatewayDelivery
from adapters.gateways.proofs import fingerprint
from domain import jobs
from domain.refused import Refused
from models import ids
from models.gateways import connections, inbox
from models.gateways.connections import GatewayConnection
from models.gateways.inbox import Arrived, GatewayEvent
from pipelines import work

#: How the keys of deliveries begin that were read from a list.
LISTED = "reconcile:"

_LONGEST_KEY = 255
_LONGEST_TYPE = 100


def take(connection: GatewayConnection, deliveries: Sequence[GatewayDelivery], *, now: datetime) -> None:
    """Keep what a proved request brought, unless it came before. Budget: 1 round trip for each, and the commit."""
    for delivery in deliveries:
        event = arrived(delivery)
        is_new = inbox.take(event, organization_id=connection.organization_id, connection_id=connection.id, now=now)
        if is_new:
            work.enqueue(jobs.GATEWAY_EVENT, organization_id=connection.organization_id, event_id=event.id)
    connections.stage_seen(organization_id=connection.organization_id, connection_id=connection.id, at=now)


def external_id(delivery: GatewayDelivery) -> str:
    """Return what a delivery that was read from a list is about: its key without what says that it was listed."""
    return delivery.key.removeprefix(LISTED)


def again(event: GatewayEvent) -> None:
    """Have an event worked on again, whatever became of it. Raises Refused 409 raw_dropped once its bytes are gone."""
    if event.raw is None:
        raise Refused(409, "raw_dropped", "What was sent is kept for 90 days; this event can no longer be replayed.")
    inbox.stage_anew(organization_id=event.organization_id, event_ids=[event.id])
    work.enqueue(jobs.GATEWAY_EVENT, organization_id=event.organization_id, event_id=event.id)


def arrived(delivery: GatewayDelivery) -> Arrived:
    """Return a delivery as it is kept: with an id of ours, and texts of a length that an index takes."""
    is_long = len(delivery.key) > _LONGEST_KEY
    return Arrived(
        id=ids.new_id(),
        event_key=fingerprint(delivery.key.encode("utf-8", "replace")) if is_long else delivery.key,
        gateway_event_id=_storable(delivery.id, _LONGEST_KEY) if delivery.id else None,
        type=_storable(delivery.type, _LONGEST_TYPE),
        raw=delivery.raw,
    )


def _storable(value: str, longest: int) -> str:
    return value.replace("\x00", "").encode("utf-8", "replace").decode()[:longest]
