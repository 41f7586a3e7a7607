"""Reads why a conversion was credited as it was. The row itself holds what cannot be told from it otherwise."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class StoredAttribution:
    """A conversion with what decided it; `attribution_log` is null where the rest says it all. Times are aware UTC."""

    id: UUID
    affiliate_id: UUID
    attribution_method: str | None
    attribution_log: list[str] | None
    decided_at: datetime
    parent_id: UUID | None
    seller_id: UUID | None
    recorded_by: str | None


_ROWS = Rows(StoredAttribution)
# A conversion by hand and its audit entry were written at one moment, which is how the entry is found by its index.
_RECORDED_BY = """case when c.source = 'manual' then (select e.actor_type from audit_entry e
    where e.organization_id = c.organization_id and e.action = 'conversion.manual_created'
      and e.created_at = c.created_at and e.entity_id = c.id::text limit 1) end"""
_SHOWN = columns(
    StoredAttribution,
    "c",
    decided_at="coalesce(s.settled_at, c.created_at)",
    seller_id="p.affiliate_id",
    recorded_by=_RECORDED_BY,
)
_FIND = f"""
select {_SHOWN}
from conversion c
left join sale s on s.organization_id = c.organization_id and s.id = c.id
left join conversion p on p.organization_id = c.organization_id and p.id = c.parent_id
where c.organization_id = %s and c.id = %s
"""


def find(*, organization_id: UUID, conversion_id: UUID) -> StoredAttribution | None:
    """Return what is stored of a conversion's attribution; None when there is no such conversion."""
    return _ROWS.first(_FIND, (organization_id, conversion_id))
