"""Connections of all organizations and their inboxes, for the operator. Sealed values are not read."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """A connection with the counts of unprocessed events in its inbox."""

    id: UUID
    organization_id: UUID
    organization: str
    gateway: str
    mode: str
    status: str
    account: str
    last_event_at: datetime | None
    last_checked_at: datetime | None
    last_error: str | None
    reconciled_to: datetime | None
    waiting: int
    parked: int
    failed: int


_INBOX = {name: f"inbox.{name}" for name in ("waiting", "parked", "failed")}
_CONNECTION_ROWS = Rows(ConnectionRow)
_CONNECTIONS = f"""
select {columns(ConnectionRow, "c", organization="o.name", **_INBOX)}
from gateway_connection c
join organization o on o.id = c.organization_id
cross join lateral (
  select count(*) filter (where e.status = 'Received') as waiting,
    count(*) filter (where e.status = 'Parked') as parked,
    count(*) filter (where e.status = 'Failed') as failed
  from gateway_event e
  where e.organization_id = c.organization_id and e.connection_id = c.id and e.status <> 'Processed'
) inbox
where (%(org)s::uuid is null or c.organization_id = %(org)s) and (%(id)s::uuid is null or c.id = %(id)s)
  and (not %(troubled)s or c.status = 'Broken' or c.last_error is not null or inbox.waiting + inbox.failed > 0)
order by c.status = 'Disconnected', c.refused_at nulls last, c.connected_at desc, c.id desc
limit %(limit)s
"""


def any_org_list_connections(
    *,
    organization_id: UUID | None = None,
    connection_id: UUID | None = None,
    only_troubled: bool = False,
    limit: int = 1,
) -> list[ConnectionRow]:
    """Return connections, the longest refused ones first and ended ones last; None does not filter."""
    params = {"org": organization_id, "id": connection_id, "troubled": only_troubled, "limit": limit}
    return _CONNECTION_ROWS.all(_CONNECTIONS, params)


@dataclass(frozen=True, slots=True)
class InboxRow:
    """An event of an inbox, without its body."""

    id: UUID
    connection_id: UUID
    gateway_event_id: str | None
    type: str
    status: str
    reason: str | None
    error: str | None
    received_at: datetime
    processed_at: datetime | None


_INBOX_ROWS = Rows(InboxRow)
_EVENTS = f"""
select {columns(InboxRow)} from gateway_event
where organization_id = %(org)s and connection_id = %(connection)s
  and (%(status)s::text is null or status = %(status)s)
order by received_at desc, id desc
limit %(limit)s
"""


def any_org_list_events(
    *, organization_id: UUID, connection_id: UUID, status: str | None, limit: int
) -> list[InboxRow]:
    """Return up to `limit` events of a connection, newest first."""
    params = {"org": organization_id, "connection": connection_id, "status": status, "limit": limit}
    return _INBOX_ROWS.all(_EVENTS, params)
