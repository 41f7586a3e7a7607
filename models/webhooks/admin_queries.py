"""Webhook endpoints and deliveries of all organizations, for the operator. Bodies and secrets are not read."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.table import Rows, columns
from models.webhooks.outbox import FAILED_INDEX_CONDITION


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint with the counts of the last day's deliveries by status."""

    id: UUID
    organization_id: UUID
    organization: str
    url: str
    failing_since: datetime | None
    told_at: datetime | None
    delivered: int
    failed: int
    pending: int

    @property
    def state(self) -> str:
        """Return "failing" if its last attempt failed, else "ok"."""
        return "failing" if self.failing_since is not None else "ok"


_COUNTS = {name: f"deliveries.{name}" for name in ("delivered", "failed", "pending")}
_ENDPOINT_ROWS = Rows(EndpointRow)
_ENDPOINTS = f"""
select {columns(EndpointRow, "w", organization="o.name", told_at="w.failure_told_at", **_COUNTS)}
from webhook_endpoint w
join organization o on o.id = w.organization_id
cross join lateral (
  select count(*) filter (where d.status = 'Delivered') as delivered,
    count(*) filter (where d.status = 'Failed') as failed,
    count(*) filter (where d.status = 'Pending') as pending
  from delivery d where d.organization_id = w.organization_id and d.endpoint_id = w.id
    and d.created_at >= now() - interval '1 day'
) deliveries
where w.deleted_at is null and (%(org)s::uuid is null or w.organization_id = %(org)s)
  and (%(id)s::uuid is null or w.id = %(id)s) and (not %(failing)s or w.failing_since is not null)
order by w.failing_since nulls last, w.created_at desc, w.id desc
limit %(limit)s
"""


def any_org_list_endpoints(
    *, organization_id: UUID | None = None, endpoint_id: UUID | None = None, only_failing: bool = False, limit: int = 1
) -> list[EndpointRow]:
    """Return endpoints, the longest failing first; None does not filter."""
    params = {"org": organization_id, "id": endpoint_id, "failing": only_failing, "limit": limit}
    return _ENDPOINT_ROWS.all(_ENDPOINTS, params)


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery with its latest response, or the reason for none."""

    id: UUID
    organization_id: UUID
    endpoint_id: UUID
    event_type: str
    status: str
    attempt_count: int
    response_status: int | None
    failure_reason: str | None
    next_attempt_at: datetime | None
    created_at: datetime
    settled_at: datetime | None


_DELIVERY_ROWS = Rows(DeliveryRow)

# The history has an index per endpoint; at most `limit` rows of each are read.
_DELIVERIES = f"""
select {columns(DeliveryRow, "d")} from webhook_endpoint w cross join lateral (
  select * from delivery d where d.organization_id = w.organization_id and d.endpoint_id = w.id
    and (%(since)s::timestamptz is null or d.created_at >= %(since)s)
    and (%(status)s::text is null or d.status = %(status)s) and {FAILED_INDEX_CONDITION}
  order by d.created_at desc, d.id desc limit %(limit)s
) d
where (%(org)s::uuid is null or w.organization_id = %(org)s) and (%(endpoint)s::uuid is null or w.id = %(endpoint)s)
order by d.created_at desc, d.id desc
limit %(limit)s
"""


def any_org_list_deliveries(
    *, organization_id: UUID | None, endpoint_id: UUID | None, status: str | None, since: datetime | None, limit: int
) -> list[DeliveryRow]:
    """Return deliveries, newest first, including those of deleted endpoints; None does not filter."""
    params = {"org": organization_id, "endpoint": endpoint_id, "status": status, "since": since, "limit": limit}
    return _DELIVERY_ROWS.all(_DELIVERIES, params)
