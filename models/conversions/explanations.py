"""Reads the data that explains a conversion's attribution. The row stores what cannot be derived from other columns."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class StoredAttribution:
    """A conversion's attribution data; `attribution_log` is None if the rest implies it. Times are aware UTC."""

    id: UUID
    affiliate_id: UUID
    attribution_method: str | None
    attribution_log: list[str] | None
    decided_at: datetime
    parent_id: UUID | None
    seller_id: UUID | None
    recorded_by: str | None


_ROWS = Rows(StoredAttribution)
# A manual conversion and its audit entry have the same time, by which the index finds the entry.
_RECORDED_BY = """case when c.source = 'manual' then (select e.actor_type from audit_entry e
    where e.organization_id = c.organization_id and e.action = 'conversion.manual_created'
      and e.created_at = c.created_at and e.entity_id = c.id::text limit 1) end"""
_COLUMNS = columns(
    StoredAttribution,
    "c",
    decided_at="coalesce(s.settled_at, c.created_at)",
    seller_id="p.affiliate_id",
    recorded_by=_RECORDED_BY,
)
_FIND = f"""
select {_COLUMNS}
from conversion c
left join sale s on s.organization_id = c.organization_id and s.id = c.id
left join conversion p on p.organization_id = c.organization_id and p.id = c.parent_id
where c.organization_id = %s and c.id = %s
"""


def find(*, organization_id: UUID, conversion_id: UUID) -> StoredAttribution | None:
    """Return a conversion's stored attribution; None when there is no such conversion."""
    return _ROWS.first(_FIND, (organization_id, conversion_id))
