"""Receives events: stores each once, with the job that processes it, in one transaction."""

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
from models.gateways.inbox import GatewayEvent, NewEvent
from pipelines import work
from pipelines.gateways import connect

#: Prefix of the keys of deliveries that were read from a list.
LISTED_PREFIX = "reconcile:"

_MAX_KEY = 255
_MAX_TYPE = 100

# More connections than send within a few seconds; when it is reached the cache is cleared.
_MAX_CACHED = 10_000

_cache: dict[tuple[str, bytes], tuple[float, GatewayConnection]] = {}


def find_cached(gateway: str, token: str) -> GatewayConnection | None:
    """Return the connection of an event URL from this process's cache, at most KEY_CACHE_S old; None where it has none.

    Its credentials may be older than a rotation: a proof that fails on it has to be checked with `any_org_look_up`.
    """
    until, connection = _cache.get((gateway, connect.hash_token(token)), (0.0, None))
    return connection if until > time.monotonic() else None


def any_org_look_up(gateway: str, token: str) -> GatewayConnection | None:
    """Return the connection of an event URL from the database, and cache it. Budget: 1 statement."""
    token_hash = connect.hash_token(token)
    connection = connections.any_org_find_by_token(token_hash=token_hash, gateway=gateway)
    if connection is not None:
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        _cache[gateway, token_hash] = (time.monotonic() + settings.current().web.key_cache_s, connection)
    return connection


def clear_cache() -> None:
    """Clear the cache: after a change made in this process, and between tests."""
    _cache.clear()


def stage(connection: GatewayConnection, deliveries: Sequence[GatewayDelivery], *, now: datetime) -> None:
    """Stage the events of a verified request with the jobs that process them, except those that are stored already.

    Budget: none, however many there are; everything travels with the commit.
    """
    where = {"organization_id": connection.organization_id, "connection_id": connection.id}
    inbox.stage_new([event_from_delivery(delivery) for delivery in deliveries], **where, now=now)
    connections.stage_seen(**where, at=now)


def external_id_of(delivery: GatewayDelivery) -> str:
    """Return the external id that a listed delivery is about: its key without the prefix `LISTED_PREFIX`."""
    return delivery.key.removeprefix(LISTED_PREFIX)


def retry(event: GatewayEvent) -> None:
    """Process an event again, whatever its status. Raises Refused 409 raw_dropped once its raw bytes are deleted."""
    if event.raw is None:
        message = "The content of events is stored for 90 days. This event is older and cannot be replayed."
        raise Refused(409, "raw_dropped", message)
    inbox.stage_retry(organization_id=event.organization_id, event_ids=[event.id])
    work.enqueue(jobs.GATEWAY_EVENT, organization_id=event.organization_id, event_id=event.id)


def event_from_delivery(delivery: GatewayDelivery) -> NewEvent:
    """Return a delivery as it is stored: with our id, and texts short enough for an index."""
    is_long = len(delivery.key) > _MAX_KEY
    return NewEvent(
        id=ids.new_id(),
        event_key=fingerprint(delivery.key.encode("utf-8", "replace")) if is_long else delivery.key,
        gateway_event_id=_to_storable(delivery.id, _MAX_KEY) if delivery.id else None,
        type=_to_storable(delivery.type, _MAX_TYPE),
        raw=delivery.raw,
    )


def _to_storable(value: str, max_length: int) -> str:
    return value.replace("\x00", "").encode("utf-8", "replace").decode()[:max_length]
