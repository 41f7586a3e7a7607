"""Rows: a frozen dataclass says what is read, and the select list is derived from it, so the two cannot differ.

Statements are constants of their module, in SQL. This module has what follows from the columns alone: reading rows,
inserting a mapping and changing some columns.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar, get_args, get_origin
from uuid import UUID

import orjson

from models.db import db
from models.prepared_statements import Params, PreparedStatement

Row = TypeVar("Row")


def columns(kind: type, alias: str | None = None, /, **expressions: str) -> str:
    """Return the select list of a class of rows: its fields in order, each as `alias.field` or as its expression.

    A field that is a row itself (`terms: Terms`) needs its own select list in `expressions`.
    """
    fields = _fields(kind)
    nested = {name for name, type_ in fields.items() if _nested_row(type_)}
    if wrong := sorted(nested - set(expressions)) or sorted(set(expressions) - set(fields)):
        raise TypeError(f"{kind.__name__}: what to select for {', '.join(wrong)}?")
    prefix = f"{alias}." if alias else ""
    return ", ".join(expressions.get(name, f"{prefix}{name}") for name in fields)


def unnest(kind: type, names: Sequence[str]) -> str:
    """Return SQL for rows of these fields of a class, each sent as an array (`%s`) of its values in all rows."""
    fields = _fields(kind)
    return f"unnest({', '.join(f'%s::{_sql_type(fields[name])}[]' for name in names)})"


def placeholders(kind: type) -> str:
    """Return the placeholders for a whole row of a class, in the order of `columns`; `row_values` fills them in."""
    return ", ".join(["%s"] * len(_field_names(kind)))


def rows_as_json(rows: Sequence[object]) -> str:
    """Return dataclasses as one text, for a statement that reads them with `json_populate_recordset`."""
    return orjson.dumps(rows, default=str).decode()  # the one type that it does not know is Decimal


def row_values(row: object) -> tuple[object, ...]:
    """Return the values of a row, in the order of `columns`."""
    kind: Any = type(row)
    return tuple(getattr(row, name) for name in _field_names(kind))


class Rows(Generic[Row]):
    """Rows of one class, read by any statement that selects `columns(kind)`.

    `kind` is a dataclass, or a NamedTuple where thousands are created. A field that is a row itself takes as many
    columns as it has fields; if it may be None, it is when the first of them is null. Arrays become tuples.
    """

    def __init__(self, kind: type[Row]) -> None:
        self._read = _row_reader(kind)

    def all(self, sql: str | PreparedStatement, params: Params = ()) -> list[Row]:
        """Execute a statement and return its rows."""
        return list(map(self._read, db.run(sql, params)))

    def first(self, sql: str | PreparedStatement, params: Params = ()) -> Row | None:
        """Execute a statement and return its first row, or None."""
        row = db.row(sql, params)
        return None if row is None else self._read(row)


class Table(Rows[Row]):
    """A table of the migrations by name, with the class that holds a whole row of it.

    `expressions` are the SQL of fields that are not columns of the table.
    """

    def __init__(
        self,
        name: str,
        kind: type[Row],
        *,
        key: Sequence[str] = ("organization_id", "id"),
        expressions: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(kind)
        self.name = name
        self.kind = kind
        self._key = key
        self.computed = frozenset(expressions or ())
        self.columns = columns(kind, **(expressions or {}))

    def insert(self, values: Mapping[str, object], *, conflict: str = "") -> bool:
        """Insert a row of these columns, the others by the table's defaults; return False if a duplicate exists.

        A duplicate is found by any unique index, or by the columns that `conflict` names; other breaches raise.
        """
        return bool(db.run(_insert_sql(self.name, tuple(values), conflict), _with_arrays(values)))

    def insert_returning(self, values: Mapping[str, object], *, conflict: str = "") -> Row | None:
        """Insert a row like `insert` and return it; return None if a duplicate exists."""
        return self.first(_insert_sql(self.name, tuple(values), conflict, self.columns), _with_arrays(values))

    def stage_inserts(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Stage the insert of rows that have the same columns, in one statement that does not grow with their number.

        A duplicate is an error.
        """
        names = tuple(rows[0])
        arrays = [[row[name] for row in rows] for name in names]
        db.stage(f"insert into {self.name} ({', '.join(names)}) select * from {unnest(self.kind, names)}", arrays)

    def update(self, key: Mapping[str, object], changes: Mapping[str, object]) -> Row | None:
        """Change columns of the row with this key and return the row; return None if it does not exist.

        Without changes it is only read.
        """
        params = {f"key_{name}": value for name, value in key.items()} | _with_arrays(changes)
        return self.first(_update_sql(self.name, self.columns, tuple(key), tuple(changes)), params)

    def update_locked(self, row: Row, columns: Mapping[str, object]) -> Row:
        """Set those of these columns that differ in a locked row, and return the row.

        A row in which none differs is returned without a statement.
        """
        changes = {name: value for name, value in columns.items() if getattr(row, name) != value}
        if not changes:
            return row
        updated = self.update({name: getattr(row, name) for name in self._key}, changes)
        assert updated is not None  # it is locked
        return updated


def _with_arrays(values: Mapping[str, object]) -> dict[str, object]:
    """Return values with lists in place of tuples, which the driver sends as arrays."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@functools.cache
def _insert_sql(table: str, names: tuple[str, ...], conflict: str, returned: str = "1") -> str:
    values = ", ".join(f"%({name})s" for name in names)
    target = f"({conflict}) " if conflict else ""
    into = f"{table} ({', '.join(names)})"
    return f"insert into {into} values ({values}) on conflict {target}do nothing returning {returned}"


@functools.cache
def _update_sql(table: str, returned: str, key: tuple[str, ...], changed: tuple[str, ...]) -> str:
    condition = " and ".join(f"{name} = %(key_{name})s" for name in key)
    if not changed:
        return f"select {returned} from {table} where {condition}"
    assignments = ", ".join(f"{name} = %({name})s" for name in changed)
    return f"update {table} set {assignments} where {condition} returning {returned}"


_SQL_TYPES = {
    UUID: "uuid",
    str: "text",
    int: "bigint",
    bool: "boolean",
    Decimal: "numeric",
    datetime: "timestamptz",
    bytes: "bytea",
    Mapping: "jsonb",
}


def _sql_type(type_: Any) -> str:
    """Return the database's type of a field."""
    kinds = [get_origin(kind) or kind for kind in (type_, *get_args(type_))]
    return next(_SQL_TYPES[kind] for kind in kinds if kind in _SQL_TYPES)


@functools.cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(_fields(kind))


def _fields(kind: type) -> dict[str, Any]:
    """Return the fields of a dataclass or a NamedTuple with their types, in order."""
    if dataclasses.is_dataclass(kind):
        return {field.name: field.type for field in dataclasses.fields(kind)}
    return dict(kind.__annotations__)


def _row_reader(kind: type[Row]) -> Callable[[Sequence[Any]], Row]:
    """Return the function that makes a row of this class from the columns of a statement."""
    readers = [_field_reader(type_) for type_ in _fields(kind).values()]
    make: Any = kind
    if all(width == 1 and convert is None for width, convert in readers):
        # A NamedTuple is created from the columns directly; its own _make would count them for each row.
        return functools.partial(tuple.__new__, kind) if issubclass(kind, tuple) else (lambda row: make(*row))

    def read(row: Sequence[Any]) -> Row:
        values: list[Any] = []
        at = 0
        for width, convert in readers:
            values.append(row[at] if convert is None else convert(row[at : at + width]))
            at += width
        return make(*values)

    return read


def _field_reader(type_: Any) -> tuple[int, Callable[[Sequence[Any]], Any] | None]:
    """Return how many columns a field of this type takes, and the function that makes its value from them.

    None in place of the function means that the column is the value.
    """
    if get_origin(type_) is tuple:
        return 1, lambda part: tuple(part[0])
    if type_ is bytes or bytes in get_args(type_):  # psycopg2 brings a memoryview
        return 1, lambda part: None if part[0] is None else bytes(part[0])
    nested = _nested_row(type_)
    if nested is None:
        return 1, None
    read: Callable[[Sequence[Any]], Any] = _row_reader(nested)
    if nested is type_:
        return _column_count(nested), read
    return _column_count(nested), lambda part: None if part[0] is None else read(part)


def _column_count(kind: type) -> int:
    return sum(width for width, _ in map(_field_reader, _fields(kind).values()))


def _nested_row(type_: Any) -> type | None:
    """Return the class of rows that a field holds, also if it may be None instead."""
    kinds = (kind for kind in (type_, *get_args(type_)) if isinstance(kind, type))
    return next((kind for kind in kinds if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")), None)
