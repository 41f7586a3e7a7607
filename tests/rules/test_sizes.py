"""Modules, functions, parameter lists and folders stay small enough to read at once."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.support import trees

_FILES = [*trees.ROOT.glob("*.py"), *trees.list_files(*trees.PRODUCT, "integrations", "tests")]

_MAX_MODULE_LINES = 350
_MAX_FUNCTION_LINES = 60
_MAX_POSITIONAL_PARAMETERS = 5
_MAX_FOLDER_MODULES = 14

_ADVICE = {
    "module": f"more than {_MAX_MODULE_LINES} lines: split it by subject into files with one job",
    "function": f"more than {_MAX_FUNCTION_LINES} lines: name its steps and make them functions",
    "parameters": f"more than {_MAX_POSITIONAL_PARAMETERS} positional parameters: ask for them by name after `*`, "
    "or combine those that belong together in one object",
    "folder": f"more than {_MAX_FOLDER_MODULES} modules: these are two subjects, or helpers that belong elsewhere",
}


def test_files_functions_and_folders_stay_small():
    large = {*_find_large_folders(), *(part for path in _FILES for part in _find_large_parts(path))}

    assert [f"{name}: {_ADVICE[kind]}" for kind, name in sorted(large)] == []


def _find_large_folders() -> Iterator[tuple[str, str]]:
    modules = Counter(path.parent for path in _FILES if path.stem not in ("__init__", "__main__"))
    yield from (
        ("folder", trees.relative_name(folder)) for folder, count in modules.items() if count > _MAX_FOLDER_MODULES
    )


def _find_large_parts(path: Path) -> Iterator[tuple[str, str]]:
    if path.read_text().count("\n") > _MAX_MODULE_LINES:
        yield "module", trees.relative_name(path)
    for function, is_method in _list_functions(trees.parse_file(path)):
        name = f"{trees.relative_name(path)}::{function.name}"
        assert function.end_lineno is not None
        if function.end_lineno - function.lineno + 1 > _MAX_FUNCTION_LINES:
            yield "function", name
        if len(function.args.posonlyargs) + len(function.args.args) - is_method > _MAX_POSITIONAL_PARAMETERS:
            yield "parameters", name


def _list_functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    """Yield each function and whether its first parameter is its object or class."""
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                is_static = any(ast.unparse(decorator) == "staticmethod" for decorator in child.decorator_list)
                yield child, isinstance(parent, ast.ClassDef) and not is_static
