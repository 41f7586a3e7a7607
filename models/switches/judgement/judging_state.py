"""How far judging is in each collection of a switch, and the sums of what was judged so far."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from models.db import Json, db
from models.table import Rows, columns


class JudgingCursor(NamedTuple):
    """How far a collection was understood and judged; None: not begun. `tally` holds counts and sums.

    `read` rows were read of `total` that the source tells, if it does.
    """

    collection: str
    read: int
    total: int | None
    normalized_to: str | None
    judged_to: str | None
    tally: Mapping[str, Any]


_CURSORS = Rows(JudgingCursor)
_LIST = f"select {columns(JudgingCursor)} from switch_collection where organization_id = %s and switch_id = %s"


def list_cursors(*, organization_id: UUID, switch_id: UUID) -> dict[str, JudgingCursor]:
    """Return the cursors of all collections that have a row, by collection."""
    rows = _CURSORS.all(_LIST, (organization_id, switch_id))
    return {row.collection: row for row in rows}


_STAGE_ENSURE = """
insert into switch_collection (organization_id, switch_id, collection, place)
select %s, %s, name, place from unnest(%s::text[]) with ordinality as named (name, place)
on conflict (organization_id, switch_id, collection) do nothing
"""
_STAGE_RESET = """
update switch_collection set normalized_to = null, judged_to = null, tally = '{}'
where organization_id = %s and switch_id = %s
"""


def stage_ensure(*, organization_id: UUID, switch_id: UUID, collections: Sequence[str]) -> None:
    """Stage a row for each collection without one: other rows may imply affiliates and customers."""
    db.stage(_STAGE_ENSURE, (organization_id, switch_id, list(collections)))


def stage_reset(*, organization_id: UUID, switch_id: UUID) -> None:
    """Stage that judging starts again."""
    db.stage(_STAGE_RESET, (organization_id, switch_id))


_STAGE_UNDERSTOOD = """
update switch_collection set normalized_to = %s where organization_id = %s and switch_id = %s and collection = %s
"""
_STAGE_JUDGED = """
update switch_collection set judged_to = %s, tally = %s
where organization_id = %s and switch_id = %s and collection = %s
"""


def stage_understood(*, organization_id: UUID, switch_id: UUID, collection: str, cursor: str) -> None:
    """Stage how far a collection is understood."""
    db.stage(_STAGE_UNDERSTOOD, (cursor, organization_id, switch_id, collection))


def stage_judged(
    *, organization_id: UUID, switch_id: UUID, collection: str, cursor: str, tally: Mapping[str, Any]
) -> None:
    """Stage how far a collection is judged, and its counts and sums."""
    db.stage(_STAGE_JUDGED, (cursor, Json(dict(tally)), organization_id, switch_id, collection))


def stage_refresh_statistics() -> None:
    """Stage that the planner's statistics of the items are collected again, if they have grown by half since."""
    db.stage("select refresh_switch_statistics()")


class RawRow(NamedTuple):
    """A row as the source sent it."""

    source_id: str
    data: Any
    is_mention: bool


_RAW = Rows(RawRow)
_RAW_SLICE = f"""
select {columns(RawRow)} from switch_row
where organization_id = %(org)s and switch_id = %(switch)s and collection = %(collection)s and source_id > %(after)s
  and read_at >= coalesce(%(reading_at)s, read_at)
order by source_id limit %(limit)s
"""


def list_raw_rows(
    *, organization_id: UUID, switch_id: UUID, collection: str, reading_at: datetime | None, after: str, limit: int
) -> list[RawRow]:
    """Return the next rows of a collection as the source sent them, by source id.

    `reading_at` is when the latest reading began: rows that it did not bring are no longer there. None: all rows.
    """
    scope = {"org": organization_id, "switch": switch_id, "collection": collection}
    return _RAW.all(_RAW_SLICE, scope | {"reading_at": reading_at, "after": after, "limit": limit})
