"""Pages of a table, newest first: prepared statements and light rows.

A page of fifty rows is mostly the making of objects, so rows are named tuples of what is shown and ids are texts.
Where nothing looks into what is shown, the database makes the JSON of each row (`document`) and one text of the page
(`together`), and there are no objects.
"""

import functools
from collections.abc import Mapping
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from models.prepared_statements import PreparedStatement
from models.table import Rows, columns

Position = tuple[datetime, UUID]
Row = TypeVar("Row")

#: What a schema says of a row that the database renders (`schemas.base.Wire.wire`): key, column and form of each value.
Wire = tuple[tuple[str, str, str], ...]

_TEXT = (str, str | None)
# As `schemas.base` renders them: milliseconds are cut off and not rounded, a number has no zeros behind.
_FORMS = {
    "": "{}",
    "moment": "to_char({} at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')",
    "number": "trim_scale({})",
}


def document(wire: Wire, alias: str, /, *, needs: str = "", **instead: str) -> str:
    """Return SQL for the JSON of a row: an object with the columns of `alias` under their keys, or as `instead` says.

    It is null where what is under the key `needs` would be.
    """
    shown = ", ".join(
        f'{_FORMS[form].format(instead.get(column, f"{alias}.{column}"))} as "{key}"' for key, column, form in wire
    )
    if not needs:
        return f"(select row_to_json(shown) from (select {shown}) shown)"
    # The offset keeps the planner from making what is needed twice: once to look at it and once to show it.
    return f'(select row_to_json(shown) from (select {shown} offset 0) shown where shown."{needs}" is not null)'


class RenderedPage(NamedTuple):
    """A page as the JSON of its rows with commas between, and the place of its last row where more come behind it.

    `documents` is None where one of the rows has no JSON.
    """

    documents: str | None
    last_id: str | None
    last_at: datetime | None


_PAGES = Rows(RenderedPage)


def together(rows: str) -> PreparedStatement:
    """Return the statement for a whole page: `rows` selects `id`, `moment` and `document`, up to `limit`, in order.

    One row in place of fifty takes a tenth off the CPU time that a page costs the process that asks.
    """
    return PreparedStatement(f"""
select case when bool_and(place > %(take)s or document is not null) is not false
    then coalesce(string_agg(document::text, ',') filter (where place <= %(take)s), '') end,
  case when bool_or(place > %(take)s) then max(id) filter (where place = %(take)s) end,
  case when bool_or(place > %(take)s) then max(moment) filter (where place = %(take)s) end
from (select row_number() over () as place, found.* from ({rows}) found) placed
""")


def read_together(statement: PreparedStatement, known: Mapping[str, object], *, take: int) -> RenderedPage:
    """Return a page of up to `take` rows; `limit` is said to the statement."""
    page = _PAGES.first(statement, {**known, "take": take, "limit": take + 1})
    assert page is not None  # it is an aggregate
    return page


class Listing(Generic[Row]):
    """The list of one tenant table in the order (created_at, id), newest first.

    `kind` is a NamedTuple of the columns to show; what it calls a `str` is brought as text, ids too. `condition` is SQL
    that holds for every row of the list, `instead` the SQL of what is no column.
    """

    def __init__(self, table: str, kind: type[Row], *, condition: str, **instead: str) -> None:
        self._table = table
        self._rows = Rows(kind)
        texts = {name: f"{name}::text" for name, type_ in kind.__annotations__.items() if type_ in _TEXT}
        self._shown = columns(kind, **texts | instead)
        self._condition = condition

    def page(
        self,
        *,
        organization_id: UUID,
        where: Mapping[str, object],
        limit: int,
        after: Position | None = None,
        skip: int = 0,
    ) -> list[Row]:
        """Return up to `limit` rows with these values in these columns, after a position or after `skip` rows.

        A filter that is None is left out; `skip` does not count behind a position.
        """
        filters = {column: value for column, value in where.items() if value is not None}
        before, before_id = after or (None, None)
        statement = self._statement(tuple(filters), after is not None)
        values = {**filters, "organization_id": organization_id, "limit": limit, "skip": 0 if after else skip}
        return self._rows.all(statement, values | {"before": before, "before_id": before_id})

    @functools.cache  # noqa: B019  # listings live as long as the process
    def _statement(self, filters: tuple[str, ...], is_behind: bool) -> PreparedStatement:
        conditions = ["organization_id = %(organization_id)s", self._condition]
        conditions += [f"{column} = %({column})s" for column in filters]
        if is_behind:
            conditions.append("(created_at, id) < (%(before)s, %(before_id)s)")
        # In the order of the columns and not of what is shown under their names, which no index knows.
        return PreparedStatement(f"""
select {self._shown} from {self._table}
where {" and ".join(conditions)}
order by {self._table}.created_at desc, {self._table}.id desc
limit %(limit)s offset %(skip)s
""")
