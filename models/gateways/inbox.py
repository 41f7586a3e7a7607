"""The inbox of native connections: every event once, with its body, its translated facts and its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import jobs
from models.db import Json, db
from models.gateways.connections import GatewayConnection
from models.gateways.payments import GatewayPayment
from models.jobs import rows
from models.prepared_statements import FreshSelect, Lookup, PreparedStatement
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class GatewayEvent:
    """An event of the inbox. `raw` is None once deleted, `facts` None until translated."""

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
class ListedEvent:
    """An event in a list."""

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
        """The time by which lists are ordered."""
        return self.received_at


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to insert."""

    id: UUID
    event_key: str
    gateway_event_id: str | None
    type: str
    raw: bytes


_TABLE = Table("gateway_event", GatewayEvent)
_LISTED = Rows(ListedEvent)

# An event whose job an operator discarded is processed if it is sent again; if all are new, nothing is looked up.
_INSERT_NEW = """
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
), new_jobs as (
  insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s)
  select %(org)s, %(queue)s, %(name)s, jsonb_build_object('event_id', id), %(org)s::uuid::text, %(max_attempts)s,
    %(lease_s)s
  from (select id from taken union all select id from discarded) waiting
)
select count(*) from taken
"""
_STAGE_NEW = PreparedStatement(_INSERT_NEW.format(condition="true"))
_INSERT_IF_CONNECTED = PreparedStatement(
    _INSERT_NEW.format(
        condition="exists (select from gateway_connection"
        " where organization_id = %(org)s and id = %(connection)s and status <> 'Disconnected')"
    )
)


def insert_new(events: Sequence[NewEvent], *, organization_id: UUID, connection_id: UUID, now: datetime) -> int:
    """Insert events that are new, each with its job, and return how many; 0 once the connection has ended.

    Budget: 1 statement for all.
    """
    ((count,),) = db.run(_INSERT_IF_CONNECTED, _insert_params(events, organization_id, connection_id, now))
    return int(count)


def stage_new(events: Sequence[NewEvent], *, organization_id: UUID, connection_id: UUID, now: datetime) -> None:
    """Stage the same for events received while the connection was in force, without the count."""
    db.stage(_STAGE_NEW, _insert_params(events, organization_id, connection_id, now))


def _insert_params(
    events: Sequence[NewEvent], organization_id: UUID, connection_id: UUID, now: datetime
) -> Mapping[str, object]:
    return {
        **rows.kind_columns(jobs.GATEWAY_EVENT),
        "org": organization_id,
        "connection": connection_id,
        "ids": [each.id for each in events],
        "keys": [each.event_key for each in events],
        "gateway_ids": [each.gateway_event_id for each in events],
        "types": [each.type for each in events],
        "raws": [each.raw for each in events],
        "now": now,
    }


_ONE = f"select {_TABLE.columns} from gateway_event where organization_id = %s and id = %s"
_FIND = Lookup(_ONE)
_LOCK = Lookup(f"{_ONE} for no key update")


def find(*, organization_id: UUID, event_id: UUID) -> GatewayEvent | None:
    """Return one event of the organization."""
    return _TABLE.first(_FIND, (organization_id, event_id))


@dataclass(frozen=True, slots=True)
class EventWithConnection:
    """An event with the data that its translation needs; `attribution_params` are the organization's own, as stored.

    `has_lookups`: a platform is queried about payments that credit no affiliate.
    """

    event: GatewayEvent
    connection: GatewayConnection
    attribution_params: str | None
    has_lookups: bool


_EVENT_WITH_CONNECTION_ROWS = Rows(EventWithConnection)
_FIND_WITH_CONNECTION = FreshSelect(f"""
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


def find_with_connection(*, organization_id: UUID, event_id: UUID) -> EventWithConnection | None:
    """Return one event of the organization with its connection. Budget: 1 statement."""
    return _EVENT_WITH_CONNECTION_ROWS.first(_FIND_WITH_CONNECTION, {"org": organization_id, "event": event_id})


_LOCK_STATUS = Lookup("select status from gateway_event where organization_id = %s and id = %s for no key update")


def lock_status(event: GatewayEvent) -> str:
    """Lock an event until the transaction ends, and return its current status."""
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
    """Stage the result of an event, unless it is done; `now` is when it was processed, None while it waits."""
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


_STAGE_EXPLANATION = """
update gateway_event
set reason = %(reason)s, conversion_ids = array_remove(conversion_ids || %(conversion)s::uuid, null)
where organization_id = %(org)s and id = %(id)s and status = 'Processed'
"""


def stage_explanation(*, organization_id: UUID, event_id: UUID, reason: str | None, conversion_id: UUID | None) -> None:
    """Stage the result of a payment that an event reported, if it was determined later."""
    params = {"org": organization_id, "id": event_id, "reason": reason, "conversion": conversion_id}
    db.stage(_STAGE_EXPLANATION, params)


# The job of an event that waits for its payment or its gateway would find nothing to do when it is due.
_STAGE_DELETE_WAITING_JOBS = """
delete from job
where organization_id = %(org)s and queue = 'gateways' and fair_key = %(org)s::uuid::text and name = 'gateway.event'
  and failed_at is null and deadline is null and run_at > now() and (args ->> 'event_id')::uuid = any(%(ids)s)
"""


def stage_retry(*, organization_id: UUID, event_ids: Sequence[UUID]) -> None:
    """Stage that events are processed again; those whose raw bytes were deleted stay unchanged.

    Jobs of waiting events are deleted: the caller stages new ones.
    """
    db.stage(
        "update gateway_event set status = 'Received', reason = null, error = null, processed_at = null"
        " where organization_id = %s and id = any(%s) and raw is not null",
        (organization_id, list(event_ids)),
    )
    db.stage(_STAGE_DELETE_WAITING_JOBS, {"org": organization_id, "ids": list(event_ids)})


# Each condition uses its own index. A job that waits for its gateway or for a code is due later, and holds up nothing.
_OF_BUYER = """
select id, event_id, paid_at from gateway_payment
where organization_id = %(org)s and gateway = %(gateway)s and conversion_id is null and reason = 'nobody_referred'
  and paid_at <= %(paid_at)s
"""
_HAS_EARLIER_RETRY = PreparedStatement(f"""
select exists (
  select from (
    {_OF_BUYER} and customer_id = %(customer)s
    union {_OF_BUYER} and subscription_id = %(subscription)s
    union {_OF_BUYER} and email_normalized = %(email)s
  ) p
  where (p.paid_at, p.id) < (%(paid_at)s, %(id)s)
    and (select status from gateway_event where organization_id = %(org)s and id = p.event_id) = 'Received'
    and exists (
      select from job j
      where j.organization_id = %(org)s and j.queue = 'gateways' and j.fair_key = %(org)s::uuid::text
        and j.name = 'gateway.event' and j.failed_at is null and (j.deadline is not null or j.run_at <= now())
        and (j.args ->> 'event_id')::uuid = p.event_id
    )
)
""")


def has_earlier_retry(payment: GatewayPayment) -> bool:
    """Return whether an earlier uncredited payment of its buyer is about to be booked again. Budget: 1 statement."""
    params = {
        "org": payment.organization_id,
        "gateway": payment.gateway,
        "customer": payment.customer_id,
        "subscription": payment.subscription_id,
        "email": payment.email_normalized,
        "paid_at": payment.paid_at,
        "id": payment.id,
    }
    ((is_waiting,),) = db.run(_HAS_EARLIER_RETRY, params)
    return bool(is_waiting)


_STAGE_RESUME = """
update job set run_at = now()
where organization_id = %(org)s and queue = 'gateways' and fair_key = %(org)s::uuid::text and name = 'gateway.event'
  and failed_at is null and deadline is null and run_at > now()
  and (args ->> 'event_id')::uuid in (
    select id from gateway_event
    where organization_id = %(org)s and connection_id = %(connection)s and status = 'Received'
  )
"""


def stage_resume(*, organization_id: UUID, connection_id: UUID) -> None:
    """Stage that the events of a connection that wait for its gateway are processed now."""
    db.stage(_STAGE_RESUME, {"org": organization_id, "connection": connection_id})


_PAGE = f"""
select {columns(ListedEvent)} from gateway_event
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
) -> list[ListedEvent]:
    """Return up to `limit` events of a connection, the newest first, after the keyset position `after`."""
    before, before_id = after or (None, None)
    return _LISTED.all(
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
