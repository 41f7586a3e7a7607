"""Outages of webhook endpoints: since when, the last response, and whether the Owners were notified."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns

_START = PreparedStatement("""
update webhook_endpoint set failing_since = %s where organization_id = %s and id = %s and failing_since is null
""")
_END = PreparedStatement("""
update webhook_endpoint set failing_since = null, failure_told_at = null where organization_id = %s and id = %s
""")


def stage_start(*, organization_id: UUID, endpoint_id: UUID, at: datetime) -> None:
    """Stage the start of an outage, unless the endpoint has one."""
    db.stage(_START, (at, organization_id, endpoint_id))


def stage_end(*, organization_id: UUID, endpoint_id: UUID) -> None:
    """Stage that an endpoint was reached; the next outage is notified again."""
    db.stage(_END, (organization_id, endpoint_id))


@dataclass(frozen=True, slots=True)
class Outage:
    """A long outage: how many deliveries failed, when the first of them was created (None without any), and the latest
    attempt's response or the reason for none."""

    endpoint_id: UUID
    organization_id: UUID
    organization: str
    url: str
    failing_since: datetime
    failed: int
    first_failed_at: datetime | None
    last_status: int | None
    last_reason: str | None


_OUTAGES = Rows(Outage)
_COLUMNS = columns(
    Outage,
    "w",
    endpoint_id="w.id",
    organization="o.name",
    failed="coalesce(since_outage.failed, 0)",
    first_failed_at="since_outage.first_failed_at",
    last_status="last.response_status",
    last_reason="last.failure_reason",
)

# The first failed attempt may be of an event that is an hour older: a receiver can ask for that delay. A success that
# was in progress when the outage was recorded has not cleared the row, so it is checked here.
_LONG = f"""
select {_COLUMNS}
from webhook_endpoint w
join organization o on o.id = w.organization_id
left join lateral (
  select count(*) filter (where d.status = 'Failed') as failed,
    min(d.created_at) filter (where d.status = 'Failed') as first_failed_at,
    bool_or(d.status = 'Delivered' and d.settled_at > w.failing_since) as was_reached
  from delivery d where d.organization_id = w.organization_id and d.endpoint_id = w.id
    and d.created_at >= w.failing_since - interval '2 hours'
) since_outage on true
left join lateral (
  select d.response_status, d.failure_reason from delivery d
  where d.organization_id = w.organization_id and d.endpoint_id = w.id and d.attempt_count > 0
  order by d.created_at desc, d.id desc limit 1
) last on true
where w.failing_since <= %s and w.failure_told_at is null and w.deleted_at is null
  and not coalesce(since_outage.was_reached, false)
order by w.organization_id, w.failing_since
limit %s
for update of w skip locked
"""


def any_org_lock_long(*, since: datetime, limit: int) -> list[Outage]:
    """Return up to `limit` outages that began by `since` and were not notified, locked, by organization."""
    return _OUTAGES.all(_LONG, (since, limit))


def any_org_stage_notified(endpoint_ids: Sequence[UUID], *, at: datetime) -> None:
    """Stage that the Owners were notified of these outages."""
    db.stage("update webhook_endpoint set failure_told_at = %s where id = any(%s)", (at, list(endpoint_ids)))
