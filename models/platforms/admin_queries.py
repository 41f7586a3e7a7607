"""Platform connections of all organizations, for the operator. Sealed values are not read."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class PlatformRow:
    """A connection, with how many payments of its organization wait for a platform lookup."""

    id: UUID
    organization_id: UUID
    organization: str
    platform: str
    status: str
    credits_since: datetime | None
    slug_field: str | None
    last_checked_at: datetime | None
    last_error: str | None
    waiting: int


_ROWS = Rows(PlatformRow)
_WAITING = """(select count(*) from platform_lookup l
  where l.organization_id = c.organization_id and l.started_at >= c.credits_since)"""
_CONNECTIONS = f"""
select {columns(PlatformRow, "c", organization="o.name", waiting=_WAITING)}
from platform_connection c
join organization o on o.id = c.organization_id
where (%(org)s::uuid is null or c.organization_id = %(org)s) and (%(id)s::uuid is null or c.id = %(id)s)
  and (not %(troubled)s or c.status = 'Broken' or c.last_error is not null)
order by c.status = 'Active', c.connected_at desc, c.id desc
limit %(limit)s
"""


def any_org_list_connections(
    *,
    organization_id: UUID | None = None,
    connection_id: UUID | None = None,
    only_troubled: bool = False,
    limit: int = 1,
) -> list[PlatformRow]:
    """Return connections, Broken ones first; None does not filter."""
    params = {"org": organization_id, "id": connection_id, "troubled": only_troubled, "limit": limit}
    return _ROWS.all(_CONNECTIONS, params)
