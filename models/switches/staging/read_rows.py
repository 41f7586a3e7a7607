"""The rows of a source as they were read."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from models.db import db
from models.prepared_statements import Lookup, PreparedStatement

_MAX_ID_LENGTH = 300


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row to store: the source's object, in which decimals become text. See `adapters.switches.base.SourceRow`."""

    collection: str
    source_id: str
    data: Mapping[str, Any]
    is_mention: bool = False
    is_addition: bool = False


@dataclass(frozen=True, slots=True)
class StoredPage:
    """Rows of a page that no list had brought in this reading, and by its collections the number of its stored rows."""

    new_rows: int
    read: Mapping[str, int]


# `limit 1` makes the look-up of a known row one of the index, however many rows the switch has.
# A row that no list brought in this reading is new to the walk, also if an earlier reading or a mention stored it. Of a
# row of an earlier reading nothing stays: what was added to it may be over.
_STORE = PreparedStatement("""
with incoming as (
  select * from unnest(%(collections)s::text[], %(ids)s::text[], %(data)s::text[], %(mentions)s::boolean[])
    as row (collection, source_id, data, is_mention)
), known as (
  select incoming.collection, incoming.source_id, is_stale, is_former from incoming cross join lateral (
    select r.is_mention or r.read_at < %(reading_at)s as is_stale, r.read_at < %(reading_at)s as is_former
    from switch_row r
    where r.organization_id = %(org)s and r.switch_id = %(switch)s
      and r.collection = incoming.collection and r.source_id = incoming.source_id limit 1
  ) stored_row
), stored as (
  insert into switch_row as r (organization_id, switch_id, collection, source_id, data, added_at, read_at)
  select %(org)s, %(switch)s, collection, source_id, data::jsonb, %(now)s, %(now)s from incoming where not is_mention
  on conflict (organization_id, switch_id, collection, source_id) do update
  set data = excluded.data || case when r.read_at < %(reading_at)s then '{}' else r.additions end, is_mention = false,
    additions = case when r.read_at < %(reading_at)s then '{}' else r.additions end, read_at = excluded.read_at,
    added_at = case when r.read_at < %(reading_at)s then excluded.added_at else r.added_at end
  where r.is_mention or r.added_at > %(replace_since)s or r.read_at < %(reading_at)s
), mentioned as (
  insert into switch_row as r (organization_id, switch_id, collection, source_id, data, is_mention, added_at, read_at)
  select %(org)s, %(switch)s, collection, source_id, data::jsonb, true, %(now)s, %(now)s from incoming where is_mention
  on conflict (organization_id, switch_id, collection, source_id) do update
  set data = case when r.read_at < %(reading_at)s then excluded.data else excluded.data || r.data end,
    additions = case when r.read_at < %(reading_at)s then '{}' else r.additions end, is_mention = true,
    added_at = case when r.read_at < %(reading_at)s then excluded.added_at else r.added_at end,
    read_at = excluded.read_at
  where r.read_at < %(reading_at)s or (r.is_mention and not r.data ?& array(select jsonb_object_keys(excluded.data)))
), counts as (
  select incoming.collection, count(*) filter (where coalesce(is_former, true)) as added,
    count(*) filter (where not is_mention and coalesce(is_stale, true)) as new_rows
  from incoming left join known using (collection, source_id) group by 1
), counted as (
  update switch_collection c set read = read + added from counts
  where organization_id = %(org)s and switch_id = %(switch)s and c.collection = counts.collection
  returning c.collection, read
)
select collection, new_rows, coalesce(read, added) from counts left join counted using (collection)
""")
# Only rows that exist conflict, so nothing is inserted; an update would read all rows of the switch.
_STAGE_ADDITIONS = PreparedStatement("""
insert into switch_row as r (organization_id, switch_id, collection, source_id, data)
select %(org)s, %(switch)s, collection, source_id, data::jsonb
from unnest(%(collections)s::text[], %(ids)s::text[], %(data)s::text[]) as added (collection, source_id, data)
where exists (
  select from switch_row stored where stored.organization_id = %(org)s and stored.switch_id = %(switch)s
    and stored.collection = added.collection and stored.source_id = added.source_id offset 0
)
on conflict (organization_id, switch_id, collection, source_id) do update
set data = r.data || excluded.data, additions = r.additions || excluded.data
""")
# Before any row was stored.
_EVER = datetime(1970, 1, 1, tzinfo=UTC)


def store(
    *,
    organization_id: UUID,
    switch_id: UUID,
    rows: Sequence[ReadRow],
    reading_at: datetime,
    replace_since: datetime | None = None,
    now: datetime,
) -> StoredPage:
    """Store the rows of a page by their ids, and count them.

    The latest content of a row counts; a mention is stored only if there is no row of its id, an addition only if
    there is. `reading_at` is when this reading began. Rows that were stored until `replace_since` keep their content.
    The switch is locked: no other page is stored at the same time.
    """
    by_id: dict[tuple[str, str], ReadRow] = {}
    additions: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        key = row.collection, _to_storable_id(row.source_id)
        if row.is_addition:
            additions.setdefault(key, {}).update(row.data)
        elif not (row.is_mention and key in by_id):
            by_id[key] = row
    counts: list[tuple[str, int, int]] = []
    switch = {"org": organization_id, "switch": switch_id}
    if by_id:
        params = _to_arrays({key: row.data for key, row in by_id.items()}) | {
            "mentions": [row.is_mention for row in by_id.values()],
            "reading_at": reading_at,
            "replace_since": replace_since or _EVER,
            # Machines' clocks differ: no page is older than its reading.
            "now": max(now, reading_at),
        }
        counts = list(db.run(_STORE, switch | params))
    if additions:
        db.stage(_STAGE_ADDITIONS, switch | _to_arrays(additions))
    return StoredPage(sum(new for _, new, _ in counts), {collection: read for collection, _, read in counts})


_NEXT_PARENT = Lookup("""
select source_id from switch_row
where organization_id = %s and switch_id = %s and collection = %s and source_id > %s and not is_mention
  and read_at >= %s and added_at > %s
order by source_id limit 1
""")


def find_next_parent(
    *,
    organization_id: UUID,
    switch_id: UUID,
    collection: str,
    after: str | None,
    reading_at: datetime,
    added_since: datetime | None,
) -> str | None:
    """Return the next row of a collection by source id that this reading brought, None after the last one.

    `added_since` leaves out rows that were stored until then.
    """
    params = (organization_id, switch_id, collection, after or "", reading_at, added_since or _EVER)
    row = db.row(_NEXT_PARENT, params)
    return row[0] if row else None


_COUNT_READ = """
select count(*) from switch_row
where organization_id = %s and switch_id = %s and collection = %s and not is_mention and read_at >= %s
"""


def count_read(*, organization_id: UUID, switch_id: UUID, collection: str, reading_at: datetime) -> int:
    """Return how many rows of a collection this reading's lists brought."""
    row = db.row(_COUNT_READ, (organization_id, switch_id, collection, reading_at))
    assert row is not None
    return int(row[0])


def _to_arrays(data: Mapping[tuple[str, str], Mapping[str, Any]]) -> dict[str, object]:
    return {
        "collections": [collection for collection, _ in data],
        "ids": [source_id for _, source_id in data],
        "data": [_to_json(each) for each in data.values()],
    }


def _to_storable_id(source_id: str) -> str:
    """Return an id that the table takes: one that is too long or no text is replaced by its digest."""
    if 0 < len(source_id) <= _MAX_ID_LENGTH and "\x00" not in source_id:
        return source_id
    return f"sha256:{hashlib.sha256(source_id.encode()).hexdigest()}"


def _to_json(data: Mapping[str, Any]) -> str:
    """Return JSON that jsonb takes. Decimals become text, so that they stay exact; NUL characters are left out."""
    text = json.dumps(data, default=_decimal_text)
    return text if "\\u0000" not in text else json.dumps(_without_nul(data), default=_decimal_text)


def _decimal_text(value: object) -> str:
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, Mapping):
        return {_without_nul(name): _without_nul(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nul(part) for part in value]
    return value
