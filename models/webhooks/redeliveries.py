"""Redelivery of an endpoint's deliveries in a time window."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain import jobs
from models.db import db
from models.jobs import rows
from models.table import Rows, columns
from models.webhooks.outbox import FAILED_INDEX_CONDITION, Delivery


@dataclass(frozen=True, slots=True)
class DeliveryWindow:
    """Settled deliveries of one endpoint created from `since` until before `until`, with this status."""

    organization_id: UUID
    endpoint_id: UUID
    since: datetime
    until: datetime
    status: str

    def params(self) -> dict[str, object]:
        """Return the window as parameters of a statement."""
        return {
            "org": self.organization_id,
            "endpoint": self.endpoint_id,
            "since": self.since,
            "until": self.until,
            "status": self.status,
        }

    def audit_values(self) -> dict[str, str]:
        """Return the window for the audit log."""
        return {"since": self.since.isoformat(), "until": self.until.isoformat(), "status": self.status}


@dataclass(frozen=True, slots=True)
class QueuedDelivery:
    """A delivery whose next attempt is at `at`."""

    id: UUID
    created_at: datetime
    at: datetime


_IN_WINDOW = f"""
from delivery where organization_id = %(org)s and endpoint_id = %(endpoint)s and status = %(status)s
  and {FAILED_INDEX_CONDITION}
  and created_at >= %(since)s and created_at < %(until)s
"""


_COUNT = f"select count(*) {_IN_WINDOW}"


def count(window: DeliveryWindow) -> int:
    """Return how many deliveries are in the window."""
    row = db.row(_COUNT, window.params())
    assert row is not None
    return int(row[0])


# Earlier redeliveries may still be pending: new ones are scheduled after them, so that repeated calls send no faster.
_QUEUED = Rows(QueuedDelivery)
_REOPEN = f"""
with chosen as (
  select id, event_id, created_at {_IN_WINDOW}
    and (%(after_at)s::timestamptz is null or (created_at, id) > (%(after_at)s, %(after_id)s))
  order by created_at, id limit %(limit)s for update
), start as (
  select greatest(%(now)s, max(run_at) + %(gap)s) as at from job
  where queue = %(queue)s and fair_key = %(endpoint)s::text and failed_at is null and args ->> 'once' = 'window'
), placed as (
  select id, event_id, created_at, start.at + %(gap)s * (row_number() over (order by created_at, id) - 1) as at
  from chosen, start
), reopened as (
  update delivery set status = 'Pending', settled_at = null, next_attempt_at = placed.at
  from placed
  where delivery.organization_id = %(org)s and delivery.event_id = placed.event_id and delivery.id = placed.id
), asked as (
  insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s, run_at)
  select %(org)s, %(queue)s, %(name)s, jsonb_build_object('delivery_id', id, 'event_id', event_id, 'once', 'window'),
    %(endpoint)s::text, %(max_attempts)s, %(lease_s)s, at from placed
)
select {columns(QueuedDelivery)} from placed order by created_at, id
"""


def reopen(
    window: DeliveryWindow,
    *,
    after: tuple[datetime, UUID] | None,
    limit: int,
    gap: timedelta,
    now: datetime,
) -> list[QueuedDelivery]:
    """Reopen up to `limit` deliveries of the window, oldest first, each with a job for one attempt, `gap` apart.

    `after` is the position (created_at, id) to continue from.
    """
    return _QUEUED.all(
        _REOPEN,
        {
            **window.params(),
            "after_at": after[0] if after else None,
            "after_id": after[1] if after else None,
            "limit": limit,
            "gap": gap,
            "now": now,
            **rows.kind_columns(jobs.WEBHOOK_DELIVER),
        },
    )


_HASTEN = """
with waiting as (
  select id from job
  where queue = %(queue)s and fair_key = %(endpoint)s::text and name = %(name)s
    and organization_id = %(org)s and args ->> 'delivery_id' = %(id)s::text
    and deadline is null and failed_at is null and run_at > now()
  for update skip locked
), hastened as (
  update job set run_at = now() from waiting where job.id = waiting.id returning job.id
)
update delivery set next_attempt_at = %(now)s
where organization_id = %(org)s and event_id = %(event)s and id = %(id)s and exists (select from hastened) returning id
"""


def hasten(delivery: Delivery, *, organization_id: UUID, endpoint_id: UUID, now: datetime) -> bool:
    """Make the next attempt of a pending delivery due now; False if it is already due or running."""
    params = {
        "org": organization_id,
        "endpoint": endpoint_id,
        "id": delivery.id,
        "event": delivery.event_id,
        "now": now,
    }
    kind = {"queue": jobs.WEBHOOK_DELIVER.queue, "name": jobs.WEBHOOK_DELIVER.name}
    return db.row(_HASTEN, params | kind) is not None
