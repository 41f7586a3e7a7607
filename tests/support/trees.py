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


#: What is generated, and what others' tools leave behind, is nobody's to read.
_GENERATED = {
    ROOT / "tests" / "clients" / "build",
    ROOT / "integrations" / "python" / "build",
    ROOT / "integrations" / "python" / "finderfee" / "generated",
}


def list_files(*folders: str) -> list[Path]:
    paths = (path for house in folders for path in sorted((ROOT / house).rglob("*.py")))
    return [path for path in paths if not _GENERATED.intersection(path.parents) and "node_modules" not in path.parts]


@functools.cache
def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of a file. A process parses a file once, and nobody may change what it gets."""
    return ast.parse(path.read_text())


def relative_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
