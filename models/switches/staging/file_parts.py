"""Parts of source files: their headers, their raw rows, and the rows, campaigns and figures that a mapping derives."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from models.db import Json, db
from models.table import Rows

#: Before the source ids of links that rows of affiliates name.
_DERIVED = "affiliates/"
_DERIVED_OF_IDS = f"{_DERIVED}id/"


class FilePart(NamedTuple):
    """A stored part with its number of rows; `form` has its header and, of a known export, service and parameter."""

    collection: str
    part: int
    total: int
    form: Mapping[str, Any]


class StoredFileRow(NamedTuple):
    """A raw row: `source_id` is its part and line, `data` its cells by heading."""

    source_id: str
    data: Mapping[str, Any]


class ValueCount(NamedTuple):
    """How many rows have a value in a column; the value of an empty cell is empty."""

    value: str
    rows: int


_PARTS, _ROWS, _VALUES = Rows(FilePart), Rows(StoredFileRow), Rows(ValueCount)
_STAGE_DELETE_ROWS = """
delete from switch_row where organization_id = %s and switch_id = %s and collection = %s
  and source_id >= %s and source_id < %s
"""
_STAGE_PART = """
insert into switch_list (organization_id, switch_id, name, place, collection, cursor, is_done, total)
values (%s, %s, %s, %s, %s, %s, true, %s)
on conflict (organization_id, switch_id, name) do update set cursor = excluded.cursor, total = excluded.total
"""
_STAGE_DELETE_PART = "delete from switch_list where organization_id = %s and switch_id = %s and name = %s"
_INSERT_ROWS = """
with stored as (
  insert into switch_row (organization_id, switch_id, collection, source_id, data)
  select %s, %s, %s, sent.pair->>0, sent.pair->1 from jsonb_array_elements(%s::jsonb) as sent (pair)
  returning 1
)
select count(*) from stored
"""
_LIST_PARTS = """
select collection, place, coalesce(total, 0), cursor from switch_list
where organization_id = %s and switch_id = %s and cursor ? 'header' order by collection, place
"""


def stage_delete_rows(*, organization_id: UUID, switch_id: UUID, collection: str, part: int) -> None:
    """Stage the deletion of a part's rows."""
    # In the order of bytes, 0 follows the slash.
    prefix = f"{part:02}"
    db.stage(_STAGE_DELETE_ROWS, (organization_id, switch_id, collection, f"{prefix}/", f"{prefix}0"))


def stage_part(
    *, organization_id: UUID, switch_id: UUID, collection: str, part: int, total: int, form: Mapping[str, Any]
) -> None:
    """Stage a part in place of the one with its number."""
    name = f"{collection}/{part:02}"
    db.stage(_STAGE_PART, (organization_id, switch_id, name, part, collection, Json(dict(form)), total))


def stage_delete_part(*, organization_id: UUID, switch_id: UUID, collection: str, part: int) -> None:
    """Stage the deletion of a part and its rows."""
    stage_delete_rows(organization_id=organization_id, switch_id=switch_id, collection=collection, part=part)
    db.stage(_STAGE_DELETE_PART, (organization_id, switch_id, f"{collection}/{part:02}"))


def insert_rows(
    *, organization_id: UUID, switch_id: UUID, collection: str, rows: Sequence[tuple[str, Mapping[str, Any]]]
) -> int:
    """Insert raw rows by source id and return their number. Budget: 1 round trip, whatever their number."""
    text = orjson.dumps(rows).decode()
    inserted = db.row(_INSERT_ROWS, (organization_id, switch_id, collection, text))
    assert inserted is not None  # it counts
    return int(inserted[0])


def list_parts(*, organization_id: UUID, switch_id: UUID) -> list[FilePart]:
    """Return the parts of a switch, by collection and number."""
    return _PARTS.all(_LIST_PARTS, (organization_id, switch_id))


_LIST_ROWS = """
select source_id, data from switch_row where organization_id = %s and switch_id = %s and collection = %s
order by source_id limit %s
"""
_LIST_ROWS_WITH = """
select source_id, data from switch_row where organization_id = %s and switch_id = %s and collection = %s
  and lower(data->'cells'->>%s) = any(%s)
order by source_id
"""
# Of the first rows: the words of a long file are in its beginning.
_COUNT_VALUES = """
select coalesce(data->'cells'->>%(heading)s, ''), count(*) from (
  select data from switch_row where organization_id = %(org)s and switch_id = %(switch)s
    and collection = %(collection)s and not data ? 'of' and not data ? 'fault'
  order by source_id limit %(rows)s
) first_rows
group by 1 order by 2 desc, 1 limit %(take)s
"""


def list_rows(*, organization_id: UUID, switch_id: UUID, collection: str, take: int) -> list[StoredFileRow]:
    """Return the first raw rows of a collection in the order of parts and lines."""
    return _ROWS.all(_LIST_ROWS, (organization_id, switch_id, collection, take))


def list_rows_with(
    *, organization_id: UUID, switch_id: UUID, collection: str, heading: str, values: Sequence[str]
) -> list[StoredFileRow]:
    """Return the raw rows that have one of these values (in lower case) in a column; `heading` is normalized."""
    return _ROWS.all(_LIST_ROWS_WITH, (organization_id, switch_id, collection, heading, list(values)))


def count_values(
    *, organization_id: UUID, switch_id: UUID, collection: str, heading: str, max_rows: int, take: int
) -> list[ValueCount]:
    """Return the values of a column in the first rows, the most frequent first; `heading` is normalized."""
    params = {
        "org": organization_id,
        "switch": switch_id,
        "collection": collection,
        "heading": heading,
        "rows": max_rows,
        "take": take,
    }
    return _VALUES.all(_COUNT_VALUES, params)


_STAGE_DERIVE_LINKS = """
insert into switch_row (organization_id, switch_id, collection, source_id, data)
select organization_id, switch_id, 'links', %s || source_id, data || %s from switch_row
where organization_id = %s and switch_id = %s and collection = 'affiliates' and data->'cells' ? %s
"""
_STAGE_DELETE_CAMPAIGNS = """
delete from switch_campaign where organization_id = %s and switch_id = %s and source_id <> all(%s)
"""
_STAGE_DELETE_FIGURES = "delete from switch_figure where organization_id = %s and switch_id = %s"
_STAGE_FIGURES = """
insert into switch_figure (organization_id, switch_id, name, subject, currency, value)
select %s, %s, * from unnest(%s::text[], %s::text[], %s::text[], %s::bigint[])
"""


def stage_links_of_affiliates(
    *, organization_id: UUID, switch_id: UUID, heading: str | None, id_heading: str | None
) -> None:
    """Stage rows of links for rows of affiliates with a value in a column, in place of the former ones.

    `heading` is that of tokens, `id_heading` that of ids which are tokens too. They are normalized; None: there are no
    such rows.
    """
    db.stage(_STAGE_DELETE_ROWS, (organization_id, switch_id, "links", _DERIVED, _DERIVED[:-1] + "0"))
    if heading is not None:
        of = Json({"of": "affiliates"})
        db.stage(_STAGE_DERIVE_LINKS, (_DERIVED, of, organization_id, switch_id, heading))
    if id_heading is not None:
        of = Json({"of": "affiliates", "has_id": True})
        db.stage(_STAGE_DERIVE_LINKS, (_DERIVED_OF_IDS, of, organization_id, switch_id, id_heading))


def stage_delete_campaigns(*, organization_id: UUID, switch_id: UUID, besides: Sequence[str]) -> None:
    """Stage the deletion of all campaigns but those with these source ids."""
    db.stage(_STAGE_DELETE_CAMPAIGNS, (organization_id, switch_id, list(besides)))


def stage_figures(*, organization_id: UUID, switch_id: UUID, figures: Mapping[tuple[str, str, str], int]) -> None:
    """Stage the stated figures, by name, subject and currency, in place of the former ones."""
    db.stage(_STAGE_DELETE_FIGURES, (organization_id, switch_id))
    if figures:
        names, subjects, codes = (list(values) for values in zip(*figures, strict=True))
        db.stage(_STAGE_FIGURES, (organization_id, switch_id, names, subjects, codes, list(figures.values())))
