"""Events come in: each kept once, with the job that works on it, in one transaction."""

import time
from collections.abc import Sequence
from datetime import datetime

import settings
from adapters.gateways.base import GatewayDelivery
from adapters.gateways.proofs import fingerprint
from domain import jobs
from domain.refusals import Refused
from models import ids
from models.gateways import connections, inbox
from models.gateways.connections import GatewayConnection
from models.gateways.inbox import Arrived, GatewayEvent
from pipelines import work
from pipelines.gateways import connect

#: How the keys of deliveries begin that were read from a list.
LISTED = "reconcile:"

_LONGEST_KEY = 255
_LONGEST_TYPE = 100


# More connections than send within a few seconds; past it everything is forgotten and looked up again.
_MOST_REMEMBERED = 10_000

_remembered: dict[tuple[str, bytes], tuple[float, GatewayConnection]] = {}


def remembered(gateway: str, token: str) -> GatewayConnection | None:
    """Return the connection in force at an address, where this process looked it up within KEY_CACHE_S.

    Its credentials may be those of before a rotation: a proof that it refuses is to be tried on `any_org_look_up`.
    """
    until, connection = _remembered.get((gateway, connect.token_hash(token)), (0.0, None))
    return connection if until > time.monotonic() else None


def any_org_look_up(gateway: str, token: str) -> GatewayConnection | None:
    """Return the connection in force at an address, and remember it. Budget: 1 statement."""
    token_hash = connect.token_hash(token)
    connection = connections.any_org_by_token(token_hash=token_hash, gateway=gateway)
    if connection is not None:
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        _remembered[gateway, token_hash] = (time.monotonic() + settings.current().web.key_cache_s, connection)
    return connection


def forget_remembered() -> None:
    """Look every address up again: after a change made in this process, and between tests."""
    _remembered.clear()


def stage(connection: GatewayConnection, deliveries: Sequence[GatewayDelivery], *, now: datetime) -> None:
    """Keep what a proved request brought with the jobs that work on it, unless it came before.

    Budget: none, however much it brought; everything travels with the commit.
    """
    known = {"organization_id": connection.organization_id, "connection_id": connection.id}
    inbox.stage([arrived(delivery) for delivery in deliveries], **known, now=now)
    connections.stage_seen(**known, at=now)


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
