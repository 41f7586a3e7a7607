"""Rows: a frozen dataclass says what is read, and the select list is derived from it, so the two cannot differ.

Statements are constants of their module, in SQL. What is here is for the parts that follow from the columns alone:
reading rows, inserting a mapping and changing some columns.
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


def columns(kind: type, alias: str | None = None, /, **instead: str) -> str:
    """Return the select list of a class of rows: its fields in order, each as `alias.field` or as `instead` says.

    A field that is a row itself (`terms: Terms`) needs its own select list in `instead`.
    """
    fields = _fields(kind)
    nested = {name for name, type_ in fields.items() if _nested(type_)}
    if amiss := sorted(nested - set(instead)) or sorted(set(instead) - set(fields)):
        raise TypeError(f"{kind.__name__}: what to select for {', '.join(amiss)}?")
    prefix = f"{alias}." if alias else ""
    return ", ".join(instead.get(name, f"{prefix}{name}") for name in fields)


def unnest(kind: type, names: Sequence[str]) -> str:
    """Return SQL for rows of these fields of a class, each sent as an array (`%s`) of its values in all rows."""
    fields = _fields(kind)
    return f"unnest({', '.join(f'%s::{_sql_type(fields[name])}[]' for name in names)})"


def marks(kind: type) -> str:
    """Return the placeholders for a whole row of a class, in the order of `columns`; `values` fills them in."""
    return ", ".join(["%s"] * len(_names(kind)))


def as_json(rows: Sequence[object]) -> str:
    """Return dataclasses as a statement takes them that reads them by `json_populate_recordset`: one text for all."""
    return orjson.dumps(rows, default=str).decode()  # the one type that it does not know is Decimal


def values(row: object) -> tuple[object, ...]:
    """Return what a row holds, in the order of `columns`."""
    kind: Any = type(row)
    return tuple(getattr(row, name) for name in _names(kind))


class Rows(Generic[Row]):
    """Rows of one class, read by any statement that selects `columns(kind)`.

    `kind` is a dataclass, or a NamedTuple where thousands are made. A field that is a row itself takes as many columns
    as it has fields; if it may be None, it is when the first of them is null. Arrays become tuples.
    """

    def __init__(self, kind: type[Row]) -> None:
        self._read = _reader(kind)

    def all(self, sql: str | PreparedStatement, params: Params = ()) -> list[Row]:
        """Execute a statement and return its rows."""
        return list(map(self._read, db.run(sql, params)))

    def first(self, sql: str | PreparedStatement, params: Params = ()) -> Row | None:
        """Execute a statement and return its first row, or None."""
        row = db.row(sql, params)
        return None if row is None else self._read(row)


class Table(Rows[Row]):
    """A table of the migrations by name, with the class that holds a whole row of it.

    `instead` says how fields are selected that are not columns of the table.
    """

    def __init__(
        self,
        name: str,
        kind: type[Row],
        *,
        key: Sequence[str] = ("organization_id", "id"),
        instead: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(kind)
        self.name = name
        self.kind = kind
        self._key = key
        self.computed = frozenset(instead or ())
        self.columns = columns(kind, **(instead or {}))

    def insert(self, values: Mapping[str, object], *, conflict: str = "") -> bool:
        """Insert a row of these columns, the others by the table's own defaults; False when a twin's row stands.

        Twins are found by any unique index, or by the columns that `conflict` names; other breaches raise.
        """
        return bool(db.run(_insertion(self.name, tuple(values), conflict), _sent(values)))

    def create(self, values: Mapping[str, object], *, conflict: str = "") -> Row | None:
        """Insert a row like `insert` and return it as it is; None when a twin's row stands."""
        return self.first(_insertion(self.name, tuple(values), conflict, self.columns), _sent(values))

    def stage_all(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Stage the insert of rows that have the same columns, in one statement that does not grow with their number.

        Twins are an error.
        """
        names = tuple(rows[0])
        arrays = [[row[name] for row in rows] for name in names]
        db.stage(f"insert into {self.name} ({', '.join(names)}) select * from {unnest(self.kind, names)}", arrays)

    def update(self, key: Mapping[str, object], changes: Mapping[str, object]) -> Row | None:
        """Change columns of the row with this key and return it as it is now; None when there is no such row.

        Without changes it is only read.
        """
        together = {f"key_{name}": value for name, value in key.items()} | _sent(changes)
        return self.first(_change(self.name, self.columns, tuple(key), tuple(changes)), together)

    def change(self, row: Row, columns: Mapping[str, object]) -> Row:
        """Change what of these columns a locked row does not have yet, and return it as it is now.

        One that has them all is returned as it is, without asking the database.
        """
        changes = {name: value for name, value in columns.items() if getattr(row, name) != value}
        if not changes:
            return row
        changed = self.update({name: getattr(row, name) for name in self._key}, changes)
        assert changed is not None  # it is locked
        return changed


def _sent(values: Mapping[str, object]) -> dict[str, object]:
    """Return values as they are sent: what was read as a tuple is an array again."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@functools.cache
def _insertion(table: str, names: tuple[str, ...], conflict: str, shown: str = "1") -> str:
    marks = ", ".join(f"%({name})s" for name in names)
    twin = f"({conflict}) " if conflict else ""
    return f"insert into {table} ({', '.join(names)}) values ({marks}) on conflict {twin}do nothing returning {shown}"


@functools.cache
def _change(table: str, shown: str, key: tuple[str, ...], changed: tuple[str, ...]) -> str:
    wanted = " and ".join(f"{name} = %(key_{name})s" for name in key)
    if not changed:
        return f"select {shown} from {table} where {wanted}"
    assigned = ", ".join(f"{name} = %({name})s" for name in changed)
    return f"update {table} set {assigned} where {wanted} returning {shown}"


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
    """Return what a field is in the database; it may be None there if it may here."""
    kinds = [get_origin(kind) or kind for kind in (type_, *get_args(type_))]
    return next(_SQL_TYPES[kind] for kind in kinds if kind in _SQL_TYPES)


@functools.cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(_fields(kind))


def _fields(kind: type) -> dict[str, Any]:
    """Return the fields of a dataclass or a NamedTuple with their types, in order."""
    if dataclasses.is_dataclass(kind):
        return {field.name: field.type for field in dataclasses.fields(kind)}
    return dict(kind.__annotations__)


def _reader(kind: type[Row]) -> Callable[[Sequence[Any]], Row]:
    takes = [_taken(type_) for type_ in _fields(kind).values()]
    make: Any = kind
    if all(width == 1 and shape is None for width, shape in takes):
        # A NamedTuple is what is left of the row; its own _make counts the columns of each once more.
        return functools.partial(tuple.__new__, kind) if issubclass(kind, tuple) else (lambda row: make(*row))

    def read(row: Sequence[Any]) -> Row:
        values: list[Any] = []
        at = 0
        for width, shape in takes:
            values.append(row[at] if shape is None else shape(row[at : at + width]))
            at += width
        return make(*values)

    return read


def _taken(type_: Any) -> tuple[int, Callable[[Sequence[Any]], Any] | None]:
    """Return how many columns a field of this type takes, and what makes its value of them (None: it is the value)."""
    if get_origin(type_) is tuple:
        return 1, lambda part: tuple(part[0])
    if type_ is bytes or bytes in get_args(type_):  # psycopg2 brings a memoryview
        return 1, lambda part: None if part[0] is None else bytes(part[0])
    nested = _nested(type_)
    if nested is None:
        return 1, None
    read: Callable[[Sequence[Any]], Any] = _reader(nested)
    if nested is type_:
        return _width(nested), read
    return _width(nested), lambda part: None if part[0] is None else read(part)


def _width(kind: type) -> int:
    return sum(width for width, _ in map(_taken, _fields(kind).values()))


def _nested(type_: Any) -> type | None:
    """Return the class of rows that a field holds, also if it may be None instead."""
    kinds = (kind for kind in (type_, *get_args(type_)) if isinstance(kind, type))
    return next((kind for kind in kinds if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")), None)
