"""Every hot statement of the product, and how the planner would read the tables of an empty database for it.

A plan is made once per connection and kept, often before there is a row: what it goes by then, it goes by later.
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

_SAID = ("Index Cond", "Recheck Cond", "Filter", "Join Filter", "Hash Cond", "Merge Cond")
# What row security adds to each look at a table says nothing of the statement.
_WALL = re.compile(
    r"\(\((\w+\.)?(organization_)?id = \(NULLIF\(current_setting\('app\.org'::text, true\), ''::text\)\)::uuid\)"
    r" OR (COALESCE\()?\(current_setting\('app\.any_org'::text, true\) = 'on'::text\)(, false\))?\)"
)
# A partition is looked at for its table.
_PARTITION = re.compile(rf"^({'|'.join(partitions.TABLES)})_(earlier|default|\d{{4}}_\d{{2}})$")


@dataclass(frozen=True, slots=True)
class Look:
    """One look of a plan at a table: by which index, what the index takes, and all that its rows have to fulfil."""

    table: str
    alias: str
    index: str | None
    taken: str
    said: str

    def names(self, column: str) -> bool:
        """Say whether the statement asks for one value of a column."""
        return _equals(self.alias, column, self.said)

    def goes_by(self, column: str) -> bool:
        """Say whether the index is asked for one value of a column."""
        return _equals(self.alias, column, self.taken)


def every() -> Mapping[str, PreparedStatement]:
    """Return the hot statements that are constants of models, by `module.NAME`."""
    found: dict[str, PreparedStatement] = {}
    for module in pkgutil.walk_packages(models.__path__, "models."):
        for name, value in vars(importlib.import_module(module.name)).items():
            found.update({f"{module.name.removeprefix('models.')}.{name}{key}": hot for key, hot in _hot(value)})
    return found


def looks(statement: PreparedStatement) -> list[Look]:
    """Return how a statement would look at tables, for any values, as the service's own role. Needs a unit of work."""
    db.db.run(statement.prepare.decode().replace(statement.name, "looked_at", 1))
    number = statement.execute.count("%s")
    values = f" ({', '.join(['null'] * number)})" if number else ""
    row = db.db.row(f"explain (format json, verbose) execute looked_at{values}")
    db.db.run("deallocate looked_at")
    assert row is not None
    return list(_looks(row[0][0]["Plan"], above=""))


def _hot(value: object) -> Iterator[tuple[str, PreparedStatement]]:
    if isinstance(value, PreparedStatement):
        yield "", value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from ((f"[{key}]{more}", hot) for more, hot in _hot(inner))


def _looks(node: Mapping[str, Any], *, above: str) -> Iterator[Look]:
    said = _WALL.sub("", " ".join([*(str(node[name]) for name in _SAID if name in node), above]))
    if "Relation Name" in node and node["Node Type"] != "ModifyTable":
        taken = " ".join(str(node.get(name, "")) for name in ("Index Cond", "Recheck Cond"))
        yield Look(_PARTITION.sub(r"\1", node["Relation Name"]), node["Alias"], node.get("Index Name"), taken, said)
    for inner in node.get("Plans", ()):
        # The outer side of a nested loop is read whatever the inner one holds.
        is_first = node["Node Type"] == "Nested Loop" and inner["Parent Relationship"] == "Outer"
        yield from _looks(inner, above=above if is_first else said)


def _equals(alias: str, column: str, said: str) -> bool:
    return bool(re.search(rf"\b{alias}\.{column} = |= {alias}\.{column}\b", said))
