"""Written rows of a switch that undo takes back, in slices, and how far each collection is."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from models.db import db
from models.table import Rows, columns


class RowToUndo(NamedTuple):
    """A written row. `former` is what a changed record was before, in the form in which writing kept it."""

    source_id: str
    verdict: str
    decision: Mapping[str, Any]
    target_id: UUID
    former: Mapping[str, Any] | None


_ROWS = Rows(RowToUndo)
_WRITTEN = f"""
select {columns(RowToUndo)} from switch_item
where organization_id = %(org)s and switch_id = %(switch)s and is_written
"""
_SLICE = f"""
{_WRITTEN} and collection = %(collection)s and target_type is distinct from 'refund' and source_id > %(after)s
order by source_id limit %(limit)s
"""
# Few rows are refunds: they have an index of their own.
_REFUNDS = f"""
{_WRITTEN} and target_type = 'refund' and target_id > %(after)s order by target_id limit %(limit)s
"""


def list_slice(*, organization_id: UUID, switch_id: UUID, collection: str, after: str, limit: int) -> list[RowToUndo]:
    """Return the next written rows of a collection by source id, without refunds."""
    params = {
        "org": organization_id,
        "switch": switch_id,
        "collection": collection,
        "after": after,
        "limit": limit,
    }
    return _ROWS.all(_SLICE, params)


def list_refunds(*, organization_id: UUID, switch_id: UUID, after: UUID, limit: int) -> list[RowToUndo]:
    """Return the next refunds that the switch booked, by the id of the refund."""
    return _ROWS.all(_REFUNDS, {"org": organization_id, "switch": switch_id, "after": after, "limit": limit})


_CURSOR = """
select undone_to from switch_collection where organization_id = %s and switch_id = %s and collection = %s
"""
_ADVANCE = """
update switch_collection set undone_to = %s where organization_id = %s and switch_id = %s and collection = %s
"""
_UNDONE = """
with undone as (
  update switch_item set is_written = false
  where organization_id = %(org)s and switch_id = %(switch)s and collection = %(collection)s
    and source_id = any(%(source_ids)s) and is_written
  returning 1
)
update switch_collection set written = greatest(written - (select count(*) from undone), 0)
where organization_id = %(org)s and switch_id = %(switch)s and collection = %(collection)s
"""


def find_cursor(*, organization_id: UUID, switch_id: UUID, collection: str) -> str | None:
    """Return the end of the last slice that was taken back; None before the first, and without the collection."""
    row = db.row(_CURSOR, (organization_id, switch_id, collection))
    return row[0] if row else None


def stage_cursor(*, organization_id: UUID, switch_id: UUID, collection: str, undone_to: str | None) -> None:
    """Stage where the next slice begins; None: at the start."""
    db.stage(_ADVANCE, (undone_to, organization_id, switch_id, collection))


def stage_undone(*, organization_id: UUID, switch_id: UUID, collection: str, source_ids: Sequence[str]) -> None:
    """Stage that these rows are no longer written; the number of written rows of the collection falls by theirs."""
    if source_ids:
        ids = list(source_ids)
        db.stage(_UNDONE, {"org": organization_id, "switch": switch_id, "collection": collection, "source_ids": ids})


_UNDONE_REFUNDS = """
with undone as (
  update switch_item i set is_written = false
  where organization_id = %(org)s and switch_id = %(switch)s and target_type = 'refund' and is_written
    and not exists (select from refund where organization_id = i.organization_id and id = i.target_id)
  returning 1
)
update switch_collection set written = greatest(written - (select count(*) from undone), 0)
where organization_id = %(org)s and switch_id = %(switch)s and collection = 'commissions'
"""


def stage_refunds_undone(*, organization_id: UUID, switch_id: UUID) -> None:
    """Stage that refunds are no longer written that went with their conversions."""
    db.stage(_UNDONE_REFUNDS, {"org": organization_id, "switch": switch_id})
