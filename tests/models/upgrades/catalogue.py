"""The parts of a schema that a release's statements rely on, and those that a later schema removes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.support import databases

# Columns with type, whether null is refused, whether a value is required, and the service's privileges on each.
_COLUMNS = """
select relname, attname, format_type(atttypid, atttypmod), attnotnull,
  attnotnull and not atthasdef and attidentity = '' and attgenerated = '',
  array_remove(array[
    case when has_column_privilege('finderfee_app', attrelid, attnum, 'select') then 'select' end,
    case when has_column_privilege('finderfee_app', attrelid, attnum, 'insert') then 'insert' end,
    case when has_column_privilege('finderfee_app', attrelid, attnum, 'update') then 'update' end,
    case when has_table_privilege('finderfee_app', attrelid, 'delete') then 'delete' end], null)
from pg_attribute join pg_class on pg_class.oid = attrelid
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm') and attnum > 0 and not attisdropped
"""
# Functions by name and arguments, without those of triggers.
_FUNCTIONS = """
select format('%s(%s)', proname, pg_get_function_identity_arguments(oid)), pg_get_function_result(oid) from pg_proc
where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype
"""
# Unique indexes by their definition without the name; then other constraints, those of partitions with their table.
_CONSTRAINTS = """
select relname, 'u', regexp_replace(pg_get_indexdef(indexrelid), '^.* USING ', 'unique '),
  array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any (indkey))
from pg_index join pg_class on pg_class.oid = indrelid
where relnamespace = 'public'::regnamespace and indisunique
union all
select relname, contype::text, pg_get_constraintdef(pg_constraint.oid),
  array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any (conkey))
from pg_constraint join pg_class on pg_class.oid = conrelid
where relnamespace = 'public'::regnamespace and contype in ('c', 'f', 'x') and conparentid = 0
"""


@dataclass(frozen=True)
class _Column:
    kind: str
    refuses_null: bool
    is_required: bool
    rights: frozenset[str]


@dataclass(frozen=True)
class _Constraint:
    table: str
    kind: str
    definition: str
    columns: frozenset[str]

    @property
    def name(self) -> str:
        return f"{self.table} {self.definition}"

    def binds(self, known_columns: set[str]) -> bool:
        """Return whether it may refuse a row with values for the known columns only."""
        return bool(self.columns & known_columns) if self.kind == "c" else self.columns <= known_columns


@dataclass(frozen=True)
class Catalogue:
    """Columns by "table.column", functions by "name(arguments)", and constraints."""

    columns: dict[str, _Column]
    functions: dict[str, str]
    constraints: frozenset[_Constraint]

    def list_columns(self, table: str) -> set[str]:
        """Return the names of a table's columns, none for a table that is not there."""
        return {name.partition(".")[2] for name in self.columns if name.startswith(f"{table}.")}


def read(cursor: Any) -> Catalogue:
    """Return the catalogue of the database of the owner's cursor."""
    cursor.execute(_COLUMNS)
    columns = {f"{row[0]}.{row[1]}": _Column(*row[2:5], frozenset(row[5])) for row in cursor.fetchall()}
    cursor.execute(_FUNCTIONS)
    functions = dict(cursor.fetchall())
    cursor.execute(_CONSTRAINTS)
    constraints = frozenset(_Constraint(*row[:3], frozenset(row[3])) for row in cursor.fetchall())
    return Catalogue(columns, functions, constraints)


def read_from(owner_url: str) -> Catalogue:
    """Return the catalogue of a database."""
    with databases.owner_cursor(owner_url) as cursor:
        return read(cursor)


def find_breaking_parts(before: Catalogue, after: Catalogue) -> set[str]:
    """Return the names of parts that `after` changes, removes or adds so that statements for `before` can break."""
    return {*_broken_columns(before, after), *_broken_functions(before, after), *_broken_constraints(before, after)}


def _broken_columns(before: Catalogue, after: Catalogue) -> Iterator[str]:
    for name, old in before.columns.items():
        new = after.columns.get(name)
        if new is None or new.kind != old.kind or new.refuses_null > old.refuses_null or not old.rights <= new.rights:
            yield name
    for name in after.columns.keys() - before.columns.keys():
        if after.columns[name].is_required and before.list_columns(name.partition(".")[0]):
            yield name


def _broken_functions(before: Catalogue, after: Catalogue) -> Iterator[str]:
    yield from (name for name, result in before.functions.items() if after.functions.get(name) != result)


def _broken_constraints(before: Catalogue, after: Catalogue) -> Iterator[str]:
    for constraint in after.constraints - before.constraints:
        known_columns = before.list_columns(constraint.table)
        if known_columns and constraint.binds(known_columns):
            yield constraint.name
    for constraint in before.constraints - after.constraints:
        if constraint.kind == "u":
            yield constraint.name  # `on conflict` names its columns
