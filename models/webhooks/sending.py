"""Attempts to send deliveries: their start, their result, or their withdrawal. One statement for one or many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt: its event, its endpoint, and its number, counted from 1."""

    delivery_id: UUID
    event_id: UUID
    endpoint_id: UUID
    url: str
    secret_sealed: bytes
    is_endpoint_gone: bool
    event_type: str
    body: str
    event_at: datetime
    number: int
    organization_id: UUID
    failing_since: datetime | None
    managed_by: str | None


_ATTEMPTS = Rows(Attempt)
_OF_ENDPOINT = ("url", "secret_sealed", "failing_since", "managed_by")
_SENT = columns(
    Attempt,
    "d",
    **{name: f"w.{name}" for name in _OF_ENDPOINT},
    delivery_id="d.id",
    is_endpoint_gone="w.deleted_at is not null",
    body="e.body",
    event_at="e.created_at",
    number="d.attempt_count",
)
# Each lookup with `offset 0` uses the whole key; with joins, a plan made for an empty table reads all of an
# organization's endpoints and events (decision 49).
_BEGIN = PreparedStatement(f"""
with d as (
  update delivery set attempt_count = attempt_count + 1, next_attempt_at = null
  where organization_id = %(org)s and event_id = any(%(events)s) and event_id between %(first)s and %(last)s
    and id = any(%(ids)s) and status = 'Pending'
  returning id, organization_id, event_id, endpoint_id, event_type, attempt_count
)
select {_SENT} from d
cross join lateral (
  select url, secret_sealed, deleted_at, failing_since, managed_by from webhook_endpoint
  where organization_id = d.organization_id and id = d.endpoint_id offset 0
) w
cross join lateral (
  select body, created_at from event
  where organization_id = d.organization_id and id = d.event_id and id between %(first)s and %(last)s offset 0
) e
""")


def begin(*, organization_id: UUID, events: Mapping[UUID, UUID]) -> Mapping[UUID, Attempt]:
    """Count an attempt of each delivery that is still pending and return the attempts, by delivery.

    `events` maps deliveries to their events, whose ids determine the partitions.
    """
    if not events:
        return {}
    params = {"org": organization_id, "ids": list(events), **_event_params(list(events.values()))}
    attempts = _ATTEMPTS.all(_BEGIN, params)
    return {attempt.delivery_id: attempt for attempt in attempts}


_CURRENT = Lookup("""
select from webhook_endpoint
where organization_id = %s and id = %s and deleted_at is null and url = %s and secret_sealed = %s::bytea
""")


def is_current(attempt: Attempt) -> bool:
    """Return whether the endpoint exists and has the URL and the secret that the attempt is about to use."""
    endpoint = (attempt.organization_id, attempt.endpoint_id, attempt.url, attempt.secret_sealed)
    return bool(db.run(_CURRENT, endpoint))


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of attempt `number` of a delivery: the response, and the delivery's new state."""

    delivery_id: UUID
    event_id: UUID
    number: int
    began_at: datetime
    ended_at: datetime
    response_status: int | None
    response_excerpt: str | None
    failure_reason: str | None
    status: str
    next_attempt_at: datetime | None
    settled_at: datetime | None


# The deliveries are looked up by arrays of ids: the cached plan must never scan all of an organization's. Their events
# determine the partitions (`_event_params`).
_RESULTS = PreparedStatement("""
with result as materialized (
  select * from unnest(%(delivery_id)s::uuid[], %(number)s::int[], %(began_at)s::timestamptz[],
    %(ended_at)s::timestamptz[], %(response_status)s::int[], %(response_excerpt)s::text[], %(failure_reason)s::text[],
    %(status)s::text[], %(next_attempt_at)s::timestamptz[], %(settled_at)s::timestamptz[])
  as result (delivery_id, number, began_at, ended_at, response_status, response_excerpt, failure_reason, status,
    next_attempt_at, settled_at)
), noted as (
  insert into delivery_attempt (organization_id, event_id, delivery_id, number, began_at, ended_at, response_status,
    response_excerpt, failure_reason)
  select d.organization_id, d.event_id, d.id, r.number, r.began_at, r.ended_at, r.response_status, r.response_excerpt,
    r.failure_reason
  from delivery d join result r on r.delivery_id = d.id
  where d.organization_id = %(org)s and d.event_id = any(%(events)s::uuid[]) and d.id = any(%(delivery_id)s::uuid[])
    and d.event_id between %(first)s and %(last)s
  on conflict do nothing
)
update delivery d set status = r.status, response_status = r.response_status, response_excerpt = r.response_excerpt,
  failure_reason = r.failure_reason, next_attempt_at = r.next_attempt_at, settled_at = r.settled_at
from result r
where d.organization_id = %(org)s and d.event_id = any(%(events)s::uuid[]) and d.id = any(%(delivery_id)s::uuid[])
  and d.event_id between %(first)s and %(last)s
  and r.delivery_id = d.id and d.status = 'Pending' and d.attempt_count = r.number
""")


def stage_results(results: Sequence[AttemptResult], *, organization_id: UUID) -> None:
    """Stage the results of attempts in one statement. A delivery that has changed since stays unchanged.

    The commit does not wait for the disk: losing it in a crash only sends the same deliveries once more.
    """
    db.stage("set local synchronous_commit = off")
    columns_by_name = {
        name: [getattr(result, name) for result in results] for name in AttemptResult.__dataclass_fields__
    }
    db.stage(_RESULTS, {"org": organization_id, **columns_by_name, **_event_params(columns_by_name["event_id"])})


_NOT_MADE = PreparedStatement("""
update delivery d set attempt_count = attempt_count - 1, next_attempt_at = now()
from unnest(%(ids)s::uuid[], %(numbers)s::int[]) as begun (id, number)
where d.organization_id = %(org)s and d.event_id = any(%(events)s::uuid[]) and d.id = any(%(ids)s::uuid[])
  and d.event_id between %(first)s and %(last)s
  and d.id = begun.id and d.status = 'Pending' and d.attempt_count = begun.number
""")


def stage_not_made(attempts: Sequence[Attempt], *, organization_id: UUID) -> None:
    """Stage that started attempts sent nothing: they are due again, with the same numbers."""
    ids, numbers = [attempt.delivery_id for attempt in attempts], [attempt.number for attempt in attempts]
    events = _event_params([attempt.event_id for attempt in attempts])
    db.stage(_NOT_MADE, {"org": organization_id, "ids": ids, "numbers": numbers, **events})


def _event_params(events: Sequence[UUID]) -> Mapping[str, object]:
    """Return events with the first and last of them: the array finds the rows, the range selects the partitions."""
    return {"events": list(events), "first": min(events), "last": max(events)}
