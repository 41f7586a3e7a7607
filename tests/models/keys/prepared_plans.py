"""The prepared statements of the models, and the planner's access to each table in an empty database.

A plan is made once per connection and cached, often before the table has rows, so it later uses the same indexes.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import models
from models import db
from models.prepared_statements import PreparedStatement
from models.upkeep import partitions

_CONDITIONS = ("Index Cond", "Recheck Cond", "Filter", "Join Filter", "Hash Cond", "Merge Cond")
# The condition that row security adds to each table access.
_ROW_SECURITY = re.compile(
    r"\(\((\w+\.)?(organization_)?id = \(NULLIF\(current_setting\('app\.org'::text, true\), ''::text\)\)::uuid\)"
    r" OR (COALESCE\()?\(current_setting\('app\.any_org'::text, true\) = 'on'::text\)(, false\))?\)"
)
# A partition counts as its table.
_PARTITION = re.compile(rf"^({'|'.join(partitions.TABLES)})_(earlier|default|\d{{4}}_\d{{2}})$")


@dataclass(frozen=True, slots=True)
class TableAccess:
    """A plan's access to a table: the index, the index conditions, and all conditions on the rows."""

    table: str
    alias: str
    index: str | None
    index_conditions: str
    conditions: str

    def requires(self, column: str) -> bool:
        """Return whether the statement requires one value of a column."""
        return _has_equality(self.alias, column, self.conditions)

    def searches_by(self, column: str) -> bool:
        """Return whether the index is searched for one value of a column."""
        return _has_equality(self.alias, column, self.index_conditions)


def list_statements() -> Mapping[str, PreparedStatement]:
    """Return the prepared statements that are constants of models, by `module.NAME`."""
    statements: dict[str, PreparedStatement] = {}
    for module in pkgutil.walk_packages(models.__path__, "models."):
        for name, value in vars(importlib.import_module(module.name)).items():
            statements.update(
                {f"{module.name.removeprefix('models.')}.{name}{key}": hot for key, hot in _iterate_prepared(value)}
            )
    return statements


def read_accesses(statement: PreparedStatement) -> list[TableAccess]:
    """Return a statement's table accesses for any values, as the service's role. Needs a unit of work."""
    db.db.run(statement.prepare.decode().replace(statement.name, "planned", 1))
    number = statement.execute.count("%s")
    values = f" ({', '.join(['null'] * number)})" if number else ""
    row = db.db.row(f"explain (format json, verbose) execute planned{values}")
    db.db.run("deallocate planned")
    assert row is not None
    return list(_iterate_accesses(row[0][0]["Plan"], above=""))


def _iterate_prepared(value: object) -> Iterator[tuple[str, PreparedStatement]]:
    if isinstance(value, PreparedStatement):
        yield "", value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from ((f"[{key}]{more}", hot) for more, hot in _iterate_prepared(inner))


def _iterate_accesses(node: Mapping[str, Any], *, above: str) -> Iterator[TableAccess]:
    conditions = _ROW_SECURITY.sub("", " ".join([*(str(node[name]) for name in _CONDITIONS if name in node), above]))
    if "Relation Name" in node and node["Node Type"] != "ModifyTable":
        index_conditions = " ".join(str(node.get(name, "")) for name in ("Index Cond", "Recheck Cond"))
        yield TableAccess(
            _PARTITION.sub(r"\1", node["Relation Name"]),
            node["Alias"],
            node.get("Index Name"),
            index_conditions,
            conditions,
        )
    for inner in node.get("Plans", ()):
        # The outer side of a nested loop is read regardless of the inner side.
        is_first = node["Node Type"] == "Nested Loop" and inner["Parent Relationship"] == "Outer"
        yield from _iterate_accesses(inner, above=above if is_first else conditions)


def _has_equality(alias: str, column: str, conditions: str) -> bool:
    return bool(re.search(rf"\b{alias}\.{column} = |= {alias}\.{column}\b", conditions))
