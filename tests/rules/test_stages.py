"""A function named `stage_…` sends nothing, and a public function of models that only stages is named so.

Staged statements are sent with the next one or with the commit (`models/db.py`), so a reader counts the round trips of
a pipeline by these names. The tests follow calls by name through the modules of models and pipelines.
"""

import ast
import functools
from dataclasses import dataclass
from pathlib import Path

from tests.support import trees

# The modules that implement staging.
_STAGING_MODULES = {"models.db", "models.prepared_statements", "models.listing", "models.table"}
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
    assert [
        name
        for name, function in _map_functions().items()
        if function.is_named_stage and "sends" in _find_effects(name)
    ] == []


def test_staging_functions_are_named_stage():
    public = {
        name: function
        for name, function in _map_functions().items()
        if function.is_public and function.module.startswith("models.")
    }

    assert [
        name for name, function in public.items() if not function.is_named_stage and _find_effects(name) == {"stages"}
    ] == []


def test_effects_are_recognized():
    assert _find_effects("models.stored_answers.stage_answer") == {"stages"}
    assert _find_effects("models.stored_answers.find") == {"sends"}
    assert _find_effects("models.programs.budgets.lock") == {"stages", "sends"}
    assert _find_effects("pipelines.webhooks.deliver.record") == {"stages"}


def test_advisory_locks_are_taken_in_two_modules_only():
    # A migration holds a lock across transactions, on its own connection.
    locking_modules = {trees.relative_name(path) for path in _list_modules() if "pg_advisory" in path.read_text()}
    locking_modules |= {trees.relative_name(path) for path in _list_modules() if "pg_try_advisory" in path.read_text()}

    assert locking_modules == {"models/advisory_locks.py", "models/migrate.py"}


def _find_effects(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """Return a function's effects on the database: "stages", "sends", both or none."""
    function = _map_functions().get(name)
    if function is None or name in seen:
        return set()
    effects = set()
    for call in function.calls:
        effects |= {call} if call in ("stages", "sends") else _find_effects(call, seen | {name})
    return effects


def _list_modules() -> list[Path]:
    return trees.list_files("models", "pipelines")


@functools.cache
def _map_functions() -> dict[str, Function]:
    functions = {}
    for path in _list_modules():
        module = ".".join(path.relative_to(trees.ROOT).with_suffix("").parts)
        if module in _STAGING_MODULES:
            continue
        tree = trees.parse_file(path)
        imported, tables = _map_imports(tree), _list_tables(tree)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                calls = {
                    _resolve_call(call.func, module, imported, tables)
                    for call in ast.walk(node)
                    if isinstance(call, ast.Call)
                }
                functions[f"{module}.{node.name}"] = Function(module, node.name, frozenset(calls))
    return functions


def _map_imports(tree: ast.Module) -> dict[str, str]:
    nodes = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {name.asname or name.name: f"{node.module}.{name.name}" for node in nodes for name in node.names}


def _list_tables(tree: ast.Module) -> set[str]:
    """Return the names of a module's tables, rows and listings."""
    assignments = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    kinds = ("Table", "Rows", "Listing")
    return {ast.unparse(node.targets[0]) for node in assignments if ast.unparse(node.value.func).split("[")[0] in kinds}


def _resolve_call(function: ast.expr, module: str, imported: dict[str, str], tables: set[str]) -> str:
    """Return "stages" or "sends" for a call of the database, else the full name of the called function."""
    if isinstance(function, ast.Name):
        return imported.get(function.id, f"{module}.{function.id}")
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
        return ""
    base = function.value.id
    if base in tables or imported.get(base) == "models.db.db":
        return "stages" if function.attr in _STAGES else "sends" if function.attr in _SENDS else ""
    return f"{imported.get(base, base)}.{function.attr}"
