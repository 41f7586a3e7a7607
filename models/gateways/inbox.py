"""The inbox of native connections: every event once, with what was sent, what it meant and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import jobs
from models.db import Json, db
from models.gateways.connections import GatewayConnection
from models.jobs import rows
from models.prepared_statements import FreshSelect, Lookup, PreparedStatement
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class GatewayEvent:
    """An event of the inbox. `raw` is None once it was dropped, `facts` None until it was translated."""

    id: UUID
    organization_id: UUID
    connection_id: UUID
    event_key: str
    gateway_event_id: str | None
    type: str
    status: str
    reason: str | None
    error: str | None
    raw: bytes | None
    facts: list[Any] | None
    conversion_ids: tuple[UUID, ...]
    received_at: datetime
    processed_at: datetime | None


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """What a list shows of an event."""

    id: UUID
    gateway_event_id: str | None
    type: str
    status: str
    reason: str | None
    error: str | None
    conversion_ids: tuple[UUID, ...]
    received_at: datetime
    processed_at: datetime | None

    @property
    def created_at(self) -> datetime:
        """The moment by which lists are ordered."""
        return self.received_at


@dataclass(frozen=True, slots=True)
class Arrived:
    """An event to be kept."""

    id: UUID
    event_key: str
    gateway_event_id: str | None
    type: str
    raw: bytes


_TABLE = Table("gateway_event", GatewayEvent)
_SHOWN = Rows(ShownEvent)

# One whose job an operator discarded is worked on when it is sent again; where all are new nothing is looked up for it.
_TAKING = """
with taken as (
  insert into gateway_event
    (id, organization_id, connection_id, event_key, gateway_event_id, type, status, raw, received_at)
  select sent.id, %(org)s, %(connection)s, sent.event_key, sent.gateway_event_id, sent.type, 'Received', sent.raw,
    %(now)s
  from unnest(%(ids)s::uuid[], %(keys)s::text[], %(gateway_ids)s::text[], %(types)s::text[], %(raws)s::bytea[])
    as sent (id, event_key, gateway_event_id, type, raw)
  where {condition}
  on conflict do nothing
  returning id
), discarded as (
  update gateway_event e set status = 'Received', reason = null, error = null, processed_at = null
  where e.organization_id = %(org)s and e.connection_id = %(connection)s and e.event_key = any(%(keys)s)
    and e.status = 'Failed' and e.reason = 'discarded' and e.raw is not null
    and (select count(*) from taken) < cardinality(%(ids)s::uuid[])
  returning e.id
), asked as (
  insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s)
  select %(org)s, %(queue)s, %(name)s, jsonb_build_object('event_id', id), %(org)s::uuid::text, %(max_attempts)s,
    %(lease_s)s
  from (select id from taken union all select id from discarded) waiting
)
select count(*) from taken
"""
_STAGE = PreparedStatement(_TAKING.format(condition="true"))
_TAKE = PreparedStatement(
    _TAKING.format(
        condition="exists (select from gateway_connection"
        " where organization_id = %(org)s and id = %(connection)s and status <> 'Disconnected')"
    )
)


def take(arrived: Sequence[Arrived], *, organization_id: UUID, connection_id: UUID, now: datetime) -> int:
    """Insert events that did not come before, each with its job, and return how many; none once the connection ended.

    Budget: 1 statement for all.
    """
    ((count,),) = db.run(_TAKE, _taking(arrived, organization_id, connection_id, now))
    return int(count)


def stage(arrived: Sequence[Arrived], *, organization_id: UUID, connection_id: UUID, now: datetime) -> None:
    """Stage the same of what came in while the connection was in force, where nobody asks how many are new."""
    db.stage(_STAGE, _taking(arrived, organization_id, connection_id, now))


def _taking(
    arrived: Sequence[Arrived], organization_id: UUID, connection_id: UUID, now: datetime
) -> Mapping[str, object]:
    return {
        **rows.kind_columns(jobs.GATEWAY_EVENT),
        "org": organization_id,
        "connection": connection_id,
        "ids": [each.id for each in arrived],
        "keys": [each.event_key for each in arrived],
        "gateway_ids": [each.gateway_event_id for each in arrived],
        "types": [each.type for each in arrived],
        "raws": [each.raw for each in arrived],
        "now": now,
    }


_ONE = f"select {_TABLE.columns} from gateway_event where organization_id = %s and id = %s"
_FIND = Lookup(_ONE)
_LOCK = Lookup(f"{_ONE} for no key update")


def find(*, organization_id: UUID, event_id: UUID) -> GatewayEvent | None:
    """Return one event of the organization."""
    return _TABLE.first(_FIND, (organization_id, event_id))


@dataclass(frozen=True, slots=True)
class OpenedEvent:
    """An event with what translating it takes; `attribution_params` are the organization's own, as they are kept.

    `has_lookups`: a platform is asked about its payments that credit nobody.
    """

    event: GatewayEvent
    connection: GatewayConnection
    attribution_params: str | None
    has_lookups: bool


_OPENED_ROWS = Rows(OpenedEvent)
_OPEN = FreshSelect(f"""
select {columns(GatewayEvent, "e")}, {columns(GatewayConnection, "c")}, o.attribution_params,
  exists (
    select from platform_connection p
    where p.organization_id = o.id and p.status = 'Active' and p.credits_since is not null
  )
from gateway_event e
join gateway_connection c on c.organization_id = e.organization_id and c.id = e.connection_id
join organization o on o.id = e.organization_id
where e.organization_id = %(org)s and e.id = %(event)s
""")


def open_event(*, organization_id: UUID, event_id: UUID) -> OpenedEvent | None:
    """Return one event of the organization with its connection. Budget: 1 statement."""
    return _OPENED_ROWS.first(_OPEN, {"org": organization_id, "event": event_id})


_LOCK_STATUS = Lookup("select status from gateway_event where organization_id = %s and id = %s for no key update")


def lock_status(event: GatewayEvent) -> str:
    """Lock an event that was read until the transaction ends, and return its status as it is now."""
    ((status,),) = db.run(_LOCK_STATUS, (event.organization_id, event.id))
    return str(status)


def lock(*, organization_id: UUID, event_id: UUID) -> GatewayEvent | None:
    """Return one event of the organization, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, event_id))


_STAGE_RESULT = PreparedStatement("""
update gateway_event
set status = %(status)s, reason = %(reason)s, error = %(error)s, facts = coalesce(%(facts)s, facts),
  conversion_ids = %(conversion_ids)s::uuid[], processed_at = %(now)s
where organization_id = %(org)s and id = %(id)s and status not in ('Processed', 'Ignored')
""")


def stage_result(
    event: GatewayEvent,
    *,
    status: str,
    reason: str | None = None,
    error: str | None = None,
    facts: Sequence[Mapping[str, Any]] | None = None,
    conversion_ids: Sequence[UUID] = (),
    now: datetime | None,
) -> None:
    """Stage what became of an event, unless it is done; `now` is when it was worked on, None while that has to wait."""
    db.stage(
        _STAGE_RESULT,
        {
            "org": event.organization_id,
            "id": event.id,
            "status": status,
            "reason": reason,
            "error": error,
            "facts": None if facts is None else Json(list(facts)),
            "conversion_ids": list(conversion_ids),
            "now": now,
        },
    )


_STAGE_EXPLAINED = """
update gateway_event
set reason = %(reason)s, conversion_ids = array_remove(conversion_ids || %(conversion)s::uuid, null)
where organization_id = %(org)s and id = %(id)s and status = 'Processed'
"""


def stage_explained(*, organization_id: UUID, event_id: UUID, reason: str | None, conversion_id: UUID | None) -> None:
    """Stage what became of a payment that an event told, where that was found out later."""
    params = {"org": organization_id, "id": event_id, "reason": reason, "conversion": conversion_id}
    db.stage(_STAGE_EXPLAINED, params)


# The job of an event that waits, for its payment or for its gateway, would find nothing to do when its time comes.
_STAGE_WAITS_NO_MORE = """
delete from job
where organization_id = %(org)s and queue = 'gateways' and fair_key = %(org)s::uuid::text and name = 'gateway.event'
  and failed_at is null and deadline is null and run_at > now() and (args ->> 'event_id')::uuid = any(%(ids)s)
"""


def stage_anew(*, organization_id: UUID, event_ids: Sequence[UUID]) -> None:
    """Stage that events are to be worked on again; those whose raw bytes were dropped stay as they are.

    The job that an event waits with goes: the caller stages the one that works on it now.
    """
    db.stage(
        "update gateway_event set status = 'Received', reason = null, error = null, processed_at = null"
        " where organization_id = %s and id = any(%s) and raw is not null",
        (organization_id, list(event_ids)),
    )
    db.stage(_STAGE_WAITS_NO_MORE, {"org": organization_id, "ids": list(event_ids)})


_STAGE_GO_ON = """
update job set run_at = now()
where organization_id = %(org)s and queue = 'gateways' and fair_key = %(org)s::uuid::text and name = 'gateway.event'
  and failed_at is null and deadline is null and run_at > now()
  and (args ->> 'event_id')::uuid in (
    select id from gateway_event
    where organization_id = %(org)s and connection_id = %(connection)s and status = 'Received'
  )
"""


def stage_go_on(*, organization_id: UUID, connection_id: UUID) -> None:
    """Stage that the events of a connection that wait for its gateway are worked on now."""
    db.stage(_STAGE_GO_ON, {"org": organization_id, "connection": connection_id})


_PAGE = f"""
select {columns(ShownEvent)} from gateway_event
where organization_id = %(org)s and connection_id = %(connection)s
  and (%(status)s::text is null or status = %(status)s)
  and (%(before)s::timestamptz is null or (received_at, id) < (%(before)s, %(before_id)s))
order by received_at desc, id desc
limit %(limit)s
"""


def page(
    *,
    organization_id: UUID,
    connection_id: UUID,
    status: str | None,
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[ShownEvent]:
    """Return up to `limit` events of a connection, the newest first, after the keyset position `after`."""
    before, before_id = after or (None, None)
    return _SHOWN.all(
        _PAGE,
        {
            "org": organization_id,
            "connection": connection_id,
            "status": status,
            "before": before,
            "before_id": before_id,
            "limit": limit,
        },
    )
