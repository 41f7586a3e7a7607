"""Pages of a table, newest first: prepared statements and light rows.

A page of fifty rows is mostly the making of objects, so rows are named tuples of what is shown and ids are texts.
"""

import functools
from collections import namedtuple
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import db
from models.hot import Hot

Position = tuple[datetime, UUID]


class Listing:
    """The list of one tenant table in the order (created_at, id), newest first.

    `columns` are those to show, id and created_at among them; `ids` the ones of them that are UUIDs; `condition` is SQL
    that holds for every row of the list.
    """

    def __init__(self, table: str, columns: Sequence[str], *, ids: Sequence[str], condition: str) -> None:
        self._table = table
        self._shown = ", ".join(f"{name}::text" if name in ids else name for name in columns)
        self._condition = condition
        row: Any = namedtuple("Row", columns)  # type: ignore[misc]  # columns by variable
        self._as_row = row._make

    def page(
        self,
        *,
        organization_id: UUID,
        where: Mapping[str, object],
        limit: int,
        after: Position | None = None,
        skip: int = 0,
    ) -> list[Any]:
        """Return up to `limit` rows with these values in these columns, after a position or after `skip` rows.

        A filter that is None is no filter; `skip` does not count behind a position.
        """
        filters = {column: value for column, value in where.items() if value is not None}
        before, before_id = after or (None, None)
        statement = self._statement(tuple(filters), after is not None)
        values = {**filters, "organization_id": organization_id, "limit": limit, "skip": 0 if after else skip}
        return [self._as_row(row) for row in db.run(statement, values | {"before": before, "before_id": before_id})]

    @functools.cache  # noqa: B019  # listings live as long as the process
    def _statement(self, filters: tuple[str, ...], is_behind: bool) -> Hot:
        conditions = ["organization_id = %(organization_id)s", self._condition]
        conditions += [f"{column} = %({column})s" for column in filters]
        if is_behind:
            conditions.append("(created_at, id) < (%(before)s, %(before_id)s)")
        return Hot(
            f"select {self._shown} from {self._table} where {' and '.join(conditions)}"
            # By the columns and not by what is shown under their names, which no index knows.
            f" order by {self._table}.created_at desc, {self._table}.id desc limit %(limit)s offset %(skip)s"
        )
