"""Judged rows of a switch that Run writes: slices in the order of their source ids, and how far each collection is."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple
from uuid import UUID

from models.db import Json, db
from models.table import Rows, columns

#: Commissions are walked twice: refunds are taken from conversions that must exist.
Walk = Literal["rows", "refunds"]


class RowToWrite(NamedTuple):
    """A judged row: `decision` has the fields of its class in `domain.switches.decisions`."""

    source_id: str
    verdict: str
    decision: Mapping[str, Any]
    target_id: UUID


class CollectionProgress(NamedTuple):
    """How far a collection is written; `written_to` None: not begun."""

    collection: str
    written_to: str | None


_ROWS = Rows(RowToWrite)
_SLICE = """
select source_id, verdict, decision, target_id from switch_item
where organization_id = %(org)s and switch_id = %(switch)s and collection = %(collection)s
  and source_id > %(after)s and verdict in ('new', 'changed') and not is_written
  and ((decision ->> 'act') is not distinct from 'refund') = %(is_refund)s
order by source_id limit %(limit)s
"""


def list_slice(
    *, organization_id: UUID, switch_id: UUID, collection: str, walk: Walk, after: str, limit: int
) -> list[RowToWrite]:
    """Return the next rows of a collection that are to be written."""
    params = {
        "org": organization_id,
        "switch": switch_id,
        "collection": collection,
        "after": after,
        "is_refund": walk == "refunds",
        "limit": limit,
    }
    return _ROWS.all(_SLICE, params)


_PROGRESS = Rows(CollectionProgress)
_LIST_PROGRESS = f"""
select {columns(CollectionProgress)} from switch_collection where organization_id = %s and switch_id = %s
"""


def find_progress(*, organization_id: UUID, switch_id: UUID) -> dict[str, str | None]:
    """Return how far each collection is written."""
    return {row.collection: row.written_to for row in _PROGRESS.all(_LIST_PROGRESS, (organization_id, switch_id))}


_ADVANCE = """
update switch_collection set written_to = %s, written = written + %s
where organization_id = %s and switch_id = %s and collection = %s
"""
_WRITTEN = """
update switch_item set is_written = true
where organization_id = %s and switch_id = %s and collection = %s and source_id = any(%s)
"""


def stage_written(
    *, organization_id: UUID, switch_id: UUID, collection: str, source_ids: Sequence[str], written_to: str
) -> None:
    """Stage that rows are written, and where the next slice begins."""
    db.stage(_ADVANCE, (written_to, len(source_ids), organization_id, switch_id, collection))
    if source_ids:
        db.stage(_WRITTEN, (organization_id, switch_id, collection, list(source_ids)))


_RESET = """
update switch_collection set written = 0, written_to = null where organization_id = %s and switch_id = %s
"""


def stage_reset(*, organization_id: UUID, switch_id: UUID) -> None:
    """Stage that nothing of a switch is written yet."""
    db.stage(_RESET, (organization_id, switch_id))


_LEAVE_OUT = """
update switch_item i set verdict = 'left_out', reason = r.value
from jsonb_each_text(%s) r
where i.organization_id = %s and i.switch_id = %s and i.collection = %s and i.source_id = r.key
"""


def stage_left_out(*, organization_id: UUID, switch_id: UUID, collection: str, reasons: Mapping[str, str]) -> None:
    """Stage that rows are left out after all, by source id: something else took their place since they were judged."""
    if reasons:
        db.stage(_LEAVE_OUT, (Json(dict(reasons)), organization_id, switch_id, collection))


_KNOWN = """
update switch_item set verdict = 'known', warnings = array_append(warnings, %s)
where organization_id = %s and switch_id = %s and collection = %s and source_id = any(%s)
"""


def stage_known(
    *, organization_id: UUID, switch_id: UUID, collection: str, source_ids: Sequence[str], warning: str
) -> None:
    """Stage that rows stay as they are here, with a warning."""
    if source_ids:
        db.stage(_KNOWN, (warning, organization_id, switch_id, collection, list(source_ids)))


_FORMER = """
update switch_item i set former = r.value
from jsonb_each(%s) r
where i.organization_id = %s and i.switch_id = %s and i.collection = %s and i.source_id = r.key
"""


def stage_former(
    *, organization_id: UUID, switch_id: UUID, collection: str, former: Mapping[str, Mapping[str, Any]]
) -> None:
    """Stage what changed rows were before, by source id, for undo."""
    if former:
        db.stage(_FORMER, (Json(dict(former)), organization_id, switch_id, collection))


_MERGE = """
update switch_item i set verdict = 'merged', target_id = r.value::uuid
from jsonb_each_text(%s) r
where i.organization_id = %s and i.switch_id = %s and i.collection = 'affiliates' and i.source_id = r.key
"""


def stage_merged(*, organization_id: UUID, switch_id: UUID, targets: Mapping[str, UUID]) -> None:
    """Stage that affiliates, by source id, are people who joined the program since they were judged."""
    if targets:
        values = {source_id: str(target) for source_id, target in targets.items()}
        db.stage(_MERGE, (Json(values), organization_id, switch_id))


class MergedSince(NamedTuple):
    """An affiliate who joined the program after the row was judged; `link_id` is their default link."""

    decided_id: UUID
    decided_link_id: UUID | None
    affiliate_id: UUID
    link_id: UUID | None


_MERGED_ROWS = Rows(MergedSince)
_MERGED = """
select (i.decision ->> 'affiliate_id')::uuid, (i.decision ->> 'link_id')::uuid, i.target_id, l.id
from switch_item i
left join tracking_link l on l.organization_id = i.organization_id and l.affiliate_id = i.target_id and l.is_default
  and l.deleted_at is null
where i.organization_id = %s and i.switch_id = %s and i.collection = 'affiliates' and i.verdict = 'merged'
  and i.target_id <> (i.decision ->> 'affiliate_id')::uuid
"""


def list_merged_since(*, organization_id: UUID, switch_id: UUID) -> list[MergedSince]:
    """Return the affiliates whose place another record took between judging and writing."""
    return _MERGED_ROWS.all(_MERGED, (organization_id, switch_id))


_RESULT = """
select collection, verdict, coalesce(reason, ''), count(*) from switch_item
where organization_id = %s and switch_id = %s and verdict is not null group by 1, 2, 3
"""


def count_verdicts(*, organization_id: UUID, switch_id: UUID) -> list[tuple[str, str, str, int]]:
    """Return how many rows have each verdict and reason, by collection. Reads all rows of the switch."""
    return [(row[0], row[1], row[2], row[3]) for row in db.run(_RESULT, (organization_id, switch_id))]
