"""The Python files of this repository and their syntax trees, for the tests that hold rules about all of them."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = (
    "adapters",
    "api",
    "bench",
    "commands",
    "domain",
    "models",
    "pages",
    "pipelines",
    "schemas",
    "settings",
    "workers",
)

#: Generated code and the output of build tools, which no rule applies to.
_GENERATED = {
    ROOT / "tests" / "clients" / "build",
    ROOT / "integrations" / "python" / "build",
    ROOT / "integrations" / "python" / "finderfee" / "generated",
}


def list_files(*folders: str) -> list[Path]:
    """Return the Python files of some folders, without generated code."""
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return [path for path in paths if not _GENERATED.intersection(path.parents) and "node_modules" not in path.parts]


@functools.cache
def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of a file. It is shared by the whole process: do not change it."""
    return ast.parse(path.read_text())


def relative_name(path: Path) -> str:
    """Return a path relative to the repository."""
    return path.relative_to(ROOT).as_posix()
