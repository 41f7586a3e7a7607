"""Nothing grows past what one reads at a time: modules, functions, their parameters, and folders."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.support import trees

_FILES = [*trees.ROOT.glob("*.py"), *trees.list_files(*trees.PRODUCT, "integrations", "tests")]

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


def test_files_functions_and_folders_stay_small():
    large = {*_large_folders(), *(found for path in _FILES for found in _large_in(path))}

    assert [f"{name}: {_WHAT_TO_DO[kind]}" for kind, name in sorted(large)] == []


def _large_folders() -> Iterator[tuple[str, str]]:
    modules = Counter(path.parent for path in _FILES if path.stem not in ("__init__", "__main__"))
    yield from (
        ("folder", trees.relative_name(folder)) for folder, count in modules.items() if count > _MODULES_OF_A_FOLDER
    )


def _large_in(path: Path) -> Iterator[tuple[str, str]]:
    if path.read_text().count("\n") > _LINES_OF_A_MODULE:
        yield "module", trees.relative_name(path)
    for function, is_method in _functions(trees.parse_file(path)):
        name = f"{trees.relative_name(path)}::{function.name}"
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
