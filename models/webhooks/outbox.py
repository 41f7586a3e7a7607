"""The outbox: events and their deliveries to endpoints. Sending attempts are in `sending`."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson

from domain import jobs
from models.db import db
from models.jobs import rows
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns

_DELIVER = rows.kind_columns(jobs.WEBHOOK_DELIVER)

_STAGE_EVENT = PreparedStatement("""
with happened as (
  insert into event (id, organization_id, type, body, created_at)
  values (%(id)s, %(org)s, %(type)s, %(body)s, %(at)s)
), told as (
  insert into delivery (id, organization_id, event_id, endpoint_id, event_type, next_attempt_at, created_at)
  select gen_random_uuid(), organization_id, %(id)s::uuid, id, %(type)s::text, %(at)s::timestamptz, %(at)s::timestamptz
  from webhook_endpoint
  where organization_id = %(org)s and deleted_at is null and (events @> '{*}' or %(type)s::text = any(events))
  returning id, event_id, endpoint_id
)
insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s)
select %(org)s::uuid, %(queue)s::text, %(name)s::text, jsonb_build_object('delivery_id', id, 'event_id', event_id),
  endpoint_id::text,
  %(max_attempts)s::int, %(lease_s)s::int
from told
""")


def stage_event(*, organization_id: UUID, event_id: UUID, event_type: str, body: str, created_at: datetime) -> None:
    """Stage an event, one delivery per subscribed endpoint, and one job per delivery: one statement.

    `body` is the exact envelope that every attempt will send.
    """
    db.stage(
        _STAGE_EVENT,
        {
            "id": event_id,
            "org": organization_id,
            "type": event_type,
            "body": body,
            "at": created_at,
            **_DELIVER,
        },
    )


_DELIVER_MANY = """
), told as (
  insert into delivery (id, organization_id, event_id, endpoint_id, event_type, next_attempt_at, created_at)
  select gen_random_uuid(), w.organization_id, happened.id, w.id, %(type)s::text, %(at)s::timestamptz,
    %(at)s::timestamptz
  from webhook_endpoint w, happened
  where w.organization_id = %(org)s and w.deleted_at is null
    and (w.events @> '{*}' or %(type)s::text = any(w.events))
  returning id, event_id, endpoint_id
)
insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s)
select %(org)s::uuid, %(queue)s::text, %(name)s::text, jsonb_build_object('delivery_id', id, 'event_id', event_id),
  endpoint_id::text,
  %(max_attempts)s::int, %(lease_s)s::int
from told
"""
_WRITE_MANY = """
with happened as (
  insert into event (id, organization_id, type, body, created_at)
  select id, %(org)s, %(type)s, body, %(at)s from {made}
  returning id
"""
_STAGE_EVENTS = PreparedStatement(
    _WRITE_MANY.format(made="json_to_recordset(%(events)s) as e (id uuid, body text)") + _DELIVER_MANY
)


def stage_events(
    *,
    organization_id: UUID,
    event_type: str,
    bodies: Mapping[UUID, str],
    created_at: datetime,
) -> None:
    """Stage many events of one type, by their ids, like `stage_event`: one statement for all."""
    db.stage(
        _STAGE_EVENTS,
        {
            "org": organization_id,
            "type": event_type,
            "events": orjson.dumps([{"id": str(id), "body": body} for id, body in bodies.items()]).decode(),
            "at": created_at,
            **_DELIVER,
        },
    )


def stage_selected_events(
    query: str,
    params: Mapping[str, object],
    *,
    organization_id: UUID,
    event_type: str,
    created_at: datetime,
) -> None:
    """Stage the events of one type that a query returns (columns `id` and `body`), like `stage_events`."""
    db.stage(
        _WRITE_MANY.format(made=f"({query}) made") + _DELIVER_MANY,
        {
            **params,
            "org": organization_id,
            "type": event_type,
            "at": created_at,
            **_DELIVER,
        },
    )


_STAGE_DELIVERY = """
insert into delivery (id, organization_id, event_id, endpoint_id, event_type, next_attempt_at, created_at)
values (%s, %s, %s, %s, %s, %s, %s)
"""


def stage_delivery(
    *, organization_id: UUID, delivery_id: UUID, event_id: UUID, endpoint_id: UUID, event_type: str, at: datetime
) -> None:
    """Stage a delivery to a single endpoint (a test)."""
    db.stage(_STAGE_DELIVERY, (delivery_id, organization_id, event_id, endpoint_id, event_type, at, at))


_STAGE_EVENT_ALONE = """
insert into event (id, organization_id, type, body, created_at, is_sample) values (%s, %s, %s, %s, %s, true)
"""


def stage_event_alone(*, organization_id: UUID, event_id: UUID, event_type: str, body: str, at: datetime) -> None:
    """Stage an event without deliveries to its subscribers (a test)."""
    db.stage(_STAGE_EVENT_ALONE, (event_id, organization_id, event_type, body, at))


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery in an endpoint's history."""

    id: UUID
    event_id: UUID
    event_type: str
    status: str
    attempt_count: int
    response_status: int | None
    response_excerpt: str | None
    failure_reason: str | None
    next_attempt_at: datetime | None
    created_at: datetime
    settled_at: datetime | None


#: A condition that is true for every row and lets the planner use the index of failed deliveries if only those are
#: requested.
FAILED_INDEX_CONDITION = "(%(status)s::text is distinct from 'Failed' or failed_since is not null)"

_DELIVERIES = Rows(Delivery)
_HISTORY = f"""
select {columns(Delivery)} from delivery
where organization_id = %(org)s and endpoint_id = %(endpoint)s
  and (%(status)s::text is null or status = %(status)s) and {FAILED_INDEX_CONDITION}
  and (%(type)s::text is null or event_type = %(type)s)
  and (%(since)s::timestamptz is null or created_at >= %(since)s)
  and (%(until)s::timestamptz is null or created_at < %(until)s)
  and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s))
order by created_at desc, id desc
limit %(limit)s
"""


@dataclass(frozen=True, slots=True)
class DeliveryFilters:
    """Filters: this status, this type, created from `since` until before `until`; None does not filter."""

    status: str | None = None
    event_type: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def list_deliveries(
    *,
    organization_id: UUID,
    endpoint_id: UUID,
    filters: DeliveryFilters,
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[Delivery]:
    """Return an endpoint's deliveries, newest first, after the keyset position `after`."""
    before, before_id = after or (None, None)
    return _DELIVERIES.all(
        _HISTORY,
        {
            "org": organization_id,
            "endpoint": endpoint_id,
            "status": filters.status,
            "type": filters.event_type,
            "since": filters.since,
            "until": filters.until,
            "before": before,
            "before_id": before_id,
            "limit": limit,
        },
    )


_LOCK = f"""
select {columns(Delivery)} from delivery where organization_id = %s and endpoint_id = %s and id = %s for update
"""


def lock_delivery(*, organization_id: UUID, endpoint_id: UUID, delivery_id: UUID) -> Delivery | None:
    """Return one delivery of an endpoint, locked."""
    return _DELIVERIES.first(_LOCK, (organization_id, endpoint_id, delivery_id))


_REOPEN = """
update delivery set status = 'Pending', settled_at = null, next_attempt_at = %s
where organization_id = %s and event_id = %s and id = %s
"""


def stage_reopen(delivery: Delivery, *, organization_id: UUID, at: datetime) -> None:
    """Stage that a settled delivery is pending again, for one requested attempt."""
    db.stage(_REOPEN, (at, organization_id, delivery.event_id, delivery.id))
