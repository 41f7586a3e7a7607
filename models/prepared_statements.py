"""Prepared statements: planned once per connection instead of once per call.

Row-level security and composite keys make planning the larger part of a short statement; a prepared one skips it.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

Params = Sequence[object] | Mapping[str, object]

_PLACEHOLDER = re.compile(r"%(?:\((\w+)\)s|s)")
_QUERY_NAME = re.compile(r"(?:\bwith|,)\s+(\w+)(?:\s*\([^)]*\))?\s+as\s+(?:materialized\s+)?\(")
_RELATION = re.compile(r"(?<!distinct )\b(?:from|join)\s+(?!lateral\b)(\w+)\b(?!\s*\()(?!\.)")


def _table_names(sql: str) -> tuple[str, ...]:
    """Return the tables that a select reads, in the order in which it names them."""
    return tuple(dict.fromkeys(name for name in _RELATION.findall(sql) if name not in set(_QUERY_NAME.findall(sql))))


class PreparedStatement:
    """A statement with `%s` or `%(name)s` placeholders that `db.run` and `db.stage` accept in place of text.

    Its name is a hash of its text, so that processes of two releases can share the connections of a pool. Which
    statements such a connection has prepared is unknown, so `ensure_prepared` goes ahead of each `execute` there.
    """

    def __init__(self, sql: str) -> None:
        self._order: list[str | int] = []
        text = _PLACEHOLDER.sub(self._number_placeholder, sql)
        self.name = f"hot_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        self.prepare = f"prepare {self.name} as {text}".encode()
        self.ensure_prepared = f"select keep_prepared('{self.name}', $hot${text}$hot$);\n".encode()
        self.execute = f"execute {self.name} ({', '.join(['%s'] * len(self._order))})"
        #: What is sent in front of each `execute`, in the same round trip.
        self.prefix = b""

    def values(self, params: Params) -> list[object]:
        """Return the parameters in the order in which the statement numbers them."""
        return [params[place] for place in self._order]  # type: ignore[index]  # a name or a position

    def _number_placeholder(self, match: re.Match[str]) -> str:
        place: str | int = match[1] or len(self._order)
        if place not in self._order:
            self._order.append(place)
        return f"${self._order.index(place) + 1}"


class FreshSelect(PreparedStatement):
    """A prepared select that locks its tables before it takes its snapshot, as a select that is not prepared does.

    For one whose missing rows mean something: no affiliate is credited, nothing was refunded before, a commission has
    no group. In an older snapshot a table that was rewritten meanwhile would have none of its rows (docs/upgrades.md).
    It costs the server some microseconds and no round trip. `access share` is the lock that the select takes itself.
    """

    def __init__(self, sql: str, *, also: Sequence[str] = ()) -> None:
        """`also` names the tables that only functions in the statement read."""
        super().__init__(sql)
        self.also = tuple(also)
        self.tables = (*_table_names(sql), *also)
        self.prefix = f"lock table {', '.join(self.tables)} in access share mode;\n".encode()


class Lookup(PreparedStatement):
    """A prepared look-up whose missing row is final for the caller: `db.run` executes it twice before it returns none.

    A prepared `select` takes its snapshot before it waits for a table. If the table was rewritten meanwhile, that
    snapshot shows none of its rows, and only the next execution finds them (docs/upgrades.md). A row that exists costs
    nothing more; one that is missing costs one statement more.
    A look-up that always returns one row reports a missing one by nulls in its first `null_columns` columns.
    """

    def __init__(self, sql: str, *, null_columns: int = 0) -> None:
        super().__init__(sql)
        self._null_columns = null_columns

    def is_absent(self, rows: Sequence[Sequence[Any]]) -> bool:
        """Return whether the rows of one execution report that there is no such row."""
        if not rows:
            return True
        return self._null_columns > 0 and not any(value is not None for value in rows[0][: self._null_columns])
