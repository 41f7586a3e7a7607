"""Pages of a table, newest first: prepared statements and light rows.

A page of fifty rows costs mostly the creation of objects, so rows are named tuples of the displayed columns and ids are
texts. Lists whose values no code reads are rendered by the database: as the JSON of each row (`json_row`) and one text
of the page (`rendered_page_statement`), without any objects.
"""

import functools
from collections.abc import Mapping
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from models.prepared_statements import PreparedStatement
from models.table import Rows, columns

Position = tuple[datetime, UUID]
#: A position in an order by a whole number.
NumberPosition = tuple[int, UUID]
Row = TypeVar("Row")

#: What a schema declares of a row that the database renders (`schemas.base.Wire.wire`): key, column and form of each
#: value.
Wire = tuple[tuple[str, str, str], ...]

_TEXT = (str, str | None)
# As `schemas.base` renders them: milliseconds are cut off and not rounded, a number has no trailing zeros.
_FORMS = {
    "": "{}",
    "moment": "to_char({} at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')",
    "number": "trim_scale({})",
}


def json_row(wire: Wire, alias: str, /, *, needs: str = "", **expressions: str) -> str:
    """Return SQL for the JSON of a row: an object with the columns of `alias`, or their expressions, under their keys.

    It is null if the value under the key `needs` is.
    """
    values = ", ".join(
        f'{_FORMS[form].format(expressions.get(column, f"{alias}.{column}"))} as "{key}"' for key, column, form in wire
    )
    if not needs:
        return f"(select row_to_json(shown) from (select {values}) shown)"
    # The offset keeps the planner from computing that value twice: once for the condition and once for the result.
    return f'(select row_to_json(shown) from (select {values} offset 0) shown where shown."{needs}" is not null)'


class RenderedPage(NamedTuple):
    """A page as the JSON of its rows with commas between, and the position of its last row if more rows follow.

    `documents` is None if one of the rows has no JSON. `last_at` is a number in an order by numbers.
    """

    documents: str | None
    last_id: str | None
    last_at: datetime | int | None


_PAGES = Rows(RenderedPage)


def rendered_page_statement(rows: str) -> PreparedStatement:
    """Return the statement for a whole page: `rows` selects `id`, `moment` and `document`, up to `limit`, in order.

    One row in place of fifty takes a tenth off the CPU time that a page costs this process.
    """
    return PreparedStatement(f"""
select case when bool_and(place > %(take)s or document is not null) is not false
    then coalesce(string_agg(document::text, ',') filter (where place <= %(take)s), '') end,
  case when bool_or(place > %(take)s) then max(id) filter (where place = %(take)s) end,
  case when bool_or(place > %(take)s) then max(moment) filter (where place = %(take)s) end
from (select row_number() over () as place, found.* from ({rows}) found) placed
""")


def read_rendered_page(statement: PreparedStatement, params: Mapping[str, object], *, take: int) -> RenderedPage:
    """Return a page of up to `take` rows; the statement gets `limit`, one more, to see whether rows follow."""
    page = _PAGES.first(statement, {**params, "take": take, "limit": take + 1})
    assert page is not None  # it is an aggregate
    return page


class Listing(Generic[Row]):
    """The list of one tenant table in the order (created_at, id), newest first.

    `kind` is a NamedTuple of the displayed columns; its `str` fields are read as text, ids too. `condition` is SQL that
    holds for every row of the list, `expressions` the SQL of fields that are no columns.
    """

    def __init__(self, table: str, kind: type[Row], *, condition: str, **expressions: str) -> None:
        self._table = table
        self._rows = Rows(kind)
        texts = {name: f"{name}::text" for name, type_ in kind.__annotations__.items() if type_ in _TEXT}
        self._columns = columns(kind, **texts | expressions)
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

        A filter that is None does not apply; `skip` is ignored with a position.
        """
        filters = {column: value for column, value in where.items() if value is not None}
        before, before_id = after or (None, None)
        statement = self._statement(tuple(filters), after is not None)
        values = {**filters, "organization_id": organization_id, "limit": limit, "skip": 0 if after else skip}
        return self._rows.all(statement, values | {"before": before, "before_id": before_id})

    @functools.cache  # noqa: B019  # listings live as long as the process
    def _statement(self, filters: tuple[str, ...], has_position: bool) -> PreparedStatement:
        conditions = ["organization_id = %(organization_id)s", self._condition]
        conditions += [f"{column} = %({column})s" for column in filters]
        if has_position:
            conditions.append("(created_at, id) < (%(before)s, %(before_id)s)")
        # Ordered by the columns, which an index has, and not by the expressions that are selected under their names.
        return PreparedStatement(f"""
select {self._columns} from {self._table}
where {" and ".join(conditions)}
order by {self._table}.created_at desc, {self._table}.id desc
limit %(limit)s offset %(skip)s
""")
