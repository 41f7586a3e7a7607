"""How far each list and collection of a switch is read, and the figures that its source states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import Json, db
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns

_MAX_BIGINT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class SwitchList:
    """A list of the source, and how far it is read (`domain.switches.lists.ListPosition`).

    `warnings` are {code, count, example}, as the preview shows them.
    """

    name: str
    place: int
    collection: str
    cursor: Mapping[str, Any] | None
    parent: str | None
    walk: int
    new_rows: int
    is_done: bool
    total: int | None
    pages_back: int
    started_at: datetime | None
    walked_at: datetime | None
    warnings: Sequence[Mapping[str, Any]]
    idle_pages: int


@dataclass(frozen=True, slots=True)
class SwitchCollection:
    """How far a collection is: rows read, the source's total where it tells one, and rows written."""

    collection: str
    place: int
    read: int
    total: int | None
    written: int


@dataclass(frozen=True, slots=True)
class ReadFigure:
    """A figure that the source states. See `adapters.switches.base.StatedFigure`."""

    name: str
    subject: str
    currency: str
    value: int


_LISTS = Rows(SwitchList)
_LIST_ALL = PreparedStatement(
    f"select {columns(SwitchList)} from switch_list where organization_id = %s and switch_id = %s order by place"
)
_COLLECTIONS = Rows(SwitchCollection)
_COLLECTIONS_OF = f"""
select {columns(SwitchCollection)} from switch_collection
where organization_id = %s and switch_id = %s order by place
"""


def list_lists(*, organization_id: UUID, switch_id: UUID) -> list[SwitchList]:
    """Return the lists of a switch, in the order in which they are read."""
    return _LISTS.all(_LIST_ALL, (organization_id, switch_id))


def list_warnings(*, organization_id: UUID, switch_id: UUID) -> list[Mapping[str, Any]]:
    """Return the warnings about reading, as the preview shows them: {code, count, example}."""
    lists = list_lists(organization_id=organization_id, switch_id=switch_id)
    return [warning for each in lists for warning in each.warnings]


def list_collections(*, organization_id: UUID, switch_id: UUID) -> list[SwitchCollection]:
    """Return the collections of a switch, in their order."""
    return _COLLECTIONS.all(_COLLECTIONS_OF, (organization_id, switch_id))


_STAGE_NO_LISTS = "delete from switch_list where organization_id = %s and switch_id = %s"
_STAGE_LISTS = """
insert into switch_list (organization_id, switch_id, name, collection, place)
select %s, %s, * from unnest(%s::text[], %s::text[], %s::int[])
"""


def stage_lists(*, organization_id: UUID, switch_id: UUID, lists: Sequence[tuple[str, str]]) -> None:
    """Stage the lists to read, each as name and collection, in order; none of them is begun."""
    db.stage(_STAGE_NO_LISTS, (organization_id, switch_id))
    names, collections = [name for name, _ in lists], [collection for _, collection in lists]
    db.stage(_STAGE_LISTS, (organization_id, switch_id, names, collections, list(range(len(lists)))))


_STAGE_COLLECTIONS = """
insert into switch_collection (organization_id, switch_id, collection, place, read)
select %(org)s, %(switch)s, collection, place,
  (select count(*) from switch_row r
   where r.organization_id = %(org)s and r.switch_id = %(switch)s and r.collection = listed.collection
     and r.read_at >= coalesce(%(reading_at)s, r.read_at))
from unnest(%(collections)s::text[], %(places)s::int[]) as listed (collection, place)
on conflict (organization_id, switch_id, collection) do update
set place = excluded.place, read = excluded.read, total = null
"""


def stage_collections(
    *, organization_id: UUID, switch_id: UUID, collections: Sequence[str], reading_at: datetime | None
) -> None:
    """Stage the collections of a source, in order, each with the number of its rows that are stored already.

    `reading_at` is when this reading began, whose rows alone count; None: all rows count, as of files.
    """
    places = list(range(len(collections)))
    scope = {"org": organization_id, "switch": switch_id, "reading_at": reading_at}
    db.stage(_STAGE_COLLECTIONS, scope | {"collections": list(collections), "places": places})


_STAGE_LIST = PreparedStatement("""
update switch_list set cursor = %(cursor)s, parent = %(parent)s, walk = %(walk)s, new_rows = %(new_rows)s,
  is_done = %(is_done)s, total = %(total)s, pages_back = %(pages_back)s, idle_pages = %(idle_pages)s,
  started_at = %(started_at)s, walked_at = %(walked_at)s, warnings = %(warnings)s
where organization_id = %(org)s and switch_id = %(switch)s and name = %(name)s
""")


def stage_list(*, organization_id: UUID, switch_id: UUID, changed: SwitchList) -> None:
    """Stage how far a list is read, and its warnings."""
    params = {
        "org": organization_id,
        "switch": switch_id,
        "name": changed.name,
        "cursor": None if changed.cursor is None else Json(dict(changed.cursor)),
        "parent": changed.parent,
        "walk": changed.walk,
        "new_rows": changed.new_rows,
        "is_done": changed.is_done,
        "total": changed.total,
        "pages_back": changed.pages_back,
        "started_at": changed.started_at,
        "walked_at": changed.walked_at,
        "warnings": Json(list(changed.warnings)),
        "idle_pages": changed.idle_pages,
    }
    db.stage(_STAGE_LIST, params)


_STAGE_FIGURES = PreparedStatement("""
insert into switch_figure (organization_id, switch_id, name, subject, currency, value)
select %s, %s, * from unnest(%s::text[], %s::text[], %s::text[], %s::bigint[])
on conflict (organization_id, switch_id, name, subject, currency) do update set value = excluded.value
""")


def stage_figures(*, organization_id: UUID, switch_id: UUID, figures: Sequence[ReadFigure]) -> None:
    """Stage figures that the source states; the latest value of each counts. A value beyond a bigint is left out."""
    values = {
        (figure.name, figure.subject, figure.currency): figure.value
        for figure in figures
        if abs(figure.value) <= _MAX_BIGINT
    }
    if values:
        names, subjects, currencies = (list(parts) for parts in zip(*values, strict=True))
        params = (organization_id, switch_id, names, subjects, currencies, list(values.values()))
        db.stage(_STAGE_FIGURES, params)


_STAGE_NO_FIGURES = "delete from switch_figure where organization_id = %s and switch_id = %s"


def stage_no_figures(*, organization_id: UUID, switch_id: UUID) -> None:
    """Stage that the figures of an earlier reading are dropped."""
    db.stage(_STAGE_NO_FIGURES, (organization_id, switch_id))


_STAGE_TOTAL = PreparedStatement("""
update switch_collection set total = %s where organization_id = %s and switch_id = %s and collection = %s
""")


def stage_total(*, organization_id: UUID, switch_id: UUID, collection: str, total: int | None) -> None:
    """Stage the source's total of a collection."""
    db.stage(_STAGE_TOTAL, (total, organization_id, switch_id, collection))
