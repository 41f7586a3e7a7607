"""Nothing grows past what one reads at a time: modules, functions, their parameters, and folders."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_FILES = [path for path in _ROOT.rglob("*.py") if not path.relative_to(_ROOT).parts[0].startswith(".")]

_LINES_OF_A_MODULE = 350
_LINES_OF_A_FUNCTION = 60
_POSITIONAL_PARAMETERS = 5
_MODULES_OF_A_FOLDER = 14

_WHAT_TO_DO = {
    "module": f"more than {_LINES_OF_A_MODULE} lines: split it by subject into files with one job",
    "function": f"more than {_LINES_OF_A_FUNCTION} lines: name its steps and make them functions",
    "parameters": f"more than {_POSITIONAL_PARAMETERS} positional parameters: ask for them by name after `*`, "
    "or let those that go together be one object",
    "folder": f"more than {_MODULES_OF_A_FOLDER} modules: these are two subjects, or helpers that belong elsewhere",
}
# What is still too large, by what about it. This only gets shorter: an entry that is not needed any more has to go.
_STILL = {
    ("function", "tests/settings/test_reading.py::test_without_any_variable_the_defaults_hold"),
    ("module", "tests/api/server/test_slow_clients.py"),
    ("parameters", "tests/commands/service/test_jobs.py::test_list_tells_why_a_delivery_is_tried_again"),
    (
        "parameters",
        "tests/commands/test_webhooks.py::test_deliveries_are_narrowed_by_organization_endpoint_status_and_age",
    ),
    (
        "parameters",
        "tests/commands/test_webhooks.py::test_endpoints_tell_which_fail_since_when_and_what_the_day_was_like",
    ),
    ("parameters", "tests/commands/test_webhooks.py::test_redeliver_says_how_many_queues_them_and_keeps_who_did_it"),
    (
        "parameters",
        "tests/workers/test_actor.py::test_who_waited_in_vain_comes_back_soon_for_as_long_as_a_frozen_one_may_hold_the_lock",
    ),
}


def test_nothing_is_larger_than_one_reads_at_a_time():
    assert [f"{name}: {_WHAT_TO_DO[kind]}" for kind, name in sorted(_too_large() - _STILL)] == []


def test_what_is_small_enough_by_now_is_off_the_list():
    assert sorted(_STILL - _too_large()) == []


def _too_large() -> set[tuple[str, str]]:
    return {*_large_folders(), *(found for path in _FILES for found in _large_in(path))}


def _large_folders() -> Iterator[tuple[str, str]]:
    modules = Counter(path.parent for path in _FILES if path.stem not in ("__init__", "__main__"))
    yield from (("folder", _named(folder)) for folder, count in modules.items() if count > _MODULES_OF_A_FOLDER)


def _large_in(path: Path) -> Iterator[tuple[str, str]]:
    source = path.read_text()
    if source.count("\n") > _LINES_OF_A_MODULE:
        yield "module", _named(path)
    for function, is_method in _functions(ast.parse(source)):
        name = f"{_named(path)}::{function.name}"
        assert function.end_lineno is not None
        if function.end_lineno - function.lineno + 1 > _LINES_OF_A_FUNCTION:
            yield "function", name
        if len(function.args.posonlyargs) + len(function.args.args) - is_method > _POSITIONAL_PARAMETERS:
            yield "parameters", name


def _functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    """Return each function with whether its first parameter is the object or the class that it belongs to."""
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                is_static = any(ast.unparse(decorator) == "staticmethod" for decorator in child.decorator_list)
                yield child, isinstance(parent, ast.ClassDef) and not is_static


def _named(path: Path) -> str:
    return path.relative_to(_ROOT).as_posix()
