"""`stage_` is a promise: what is named so sends nothing, and what in models only stages is named so.

Staged statements travel with the next one or with the commit (`models/db.py`): whoever reads a pipeline counts its
round trips by these names. Calls are followed by name, through the modules of models and pipelines.
"""

import ast
import functools
from dataclasses import dataclass
from pathlib import Path

from tests.support import trees

# What the promise is made with.
_GROUND = {"models.db", "models.prepared_statements", "models.listing", "models.table"}
_STAGES = {"stage", "stage_inserts"}
_SENDS = {"run", "run_single", "row", "first", "all", "insert", "insert_returning", "update", "update_locked", "page"}


@dataclass(frozen=True)
class Function:
    module: str
    name: str
    calls: frozenset[str]

    @property
    def is_public(self) -> bool:
        return not self.name.startswith("_")

    @property
    def is_named_stage(self) -> bool:
        return self.name.removeprefix("any_org_").startswith("stage_") or self.name == "stage"


def test_stage_functions_send_nothing():
    assert [name for name, one in _functions().items() if one.is_named_stage and "sends" in _effects(name)] == []


def test_staging_functions_are_named_stage():
    public = {name: one for name, one in _functions().items() if one.is_public and one.module.startswith("models.")}

    assert [name for name, one in public.items() if not one.is_named_stage and _effects(name) == {"stages"}] == []


def test_effects_are_recognized():
    assert _effects("models.stored_answers.stage_answer") == {"stages"}
    assert _effects("models.stored_answers.find") == {"sends"}
    assert _effects("models.programs.budgets.lock") == {"stages", "sends"}
    assert _effects("pipelines.webhooks.deliver.record") == {"stages"}


def test_advisory_locks_are_taken_in_two_modules_only():
    # A migration holds one across transactions, on a connection of its own.
    named = {trees.relative_name(path) for path in _modules() if "pg_advisory" in path.read_text()}
    named |= {trees.relative_name(path) for path in _modules() if "pg_try_advisory" in path.read_text()}

    assert named == {"models/advisory_locks.py", "models/migrate.py"}


def _effects(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """Return what a function does to the database: "stages", "sends", both or nothing."""
    function = _functions().get(name)
    if function is None or name in seen:
        return set()
    found = set()
    for call in function.calls:
        found |= {call} if call in ("stages", "sends") else _effects(call, seen | {name})
    return found


def _modules() -> list[Path]:
    return trees.list_files("models", "pipelines")


@functools.cache
def _functions() -> dict[str, Function]:
    found = {}
    for path in _modules():
        module = ".".join(path.relative_to(trees.ROOT).with_suffix("").parts)
        if module in _GROUND:
            continue
        tree = trees.parse_file(path)
        imported, tables = _map_imports(tree), _tables(tree)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                calls = {
                    _resolve_call(call.func, module, imported, tables)
                    for call in ast.walk(node)
                    if isinstance(call, ast.Call)
                }
                found[f"{module}.{node.name}"] = Function(module, node.name, frozenset(calls))
    return found


def _map_imports(tree: ast.Module) -> dict[str, str]:
    nodes = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {name.asname or name.name: f"{node.module}.{name.name}" for node in nodes for name in node.names}


def _tables(tree: ast.Module) -> set[str]:
    """Return what a module calls its tables, rows and listings."""
    made = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    kinds = ("Table", "Rows", "Listing")
    return {ast.unparse(node.targets[0]) for node in made if ast.unparse(node.value.func).split("[")[0] in kinds}


def _resolve_call(function: ast.expr, module: str, imported: dict[str, str], tables: set[str]) -> str:
    """Return "stages" or "sends" for a call of the database, the whole name for a function's, else what is written."""
    if isinstance(function, ast.Name):
        return imported.get(function.id, f"{module}.{function.id}")
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
        return ""
    base = function.value.id
    if base in tables or imported.get(base) == "models.db.db":
        return "stages" if function.attr in _STAGES else "sends" if function.attr in _SENDS else ""
    return f"{imported.get(base, base)}.{function.attr}"
