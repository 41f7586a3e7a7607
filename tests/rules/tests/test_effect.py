"""What a test prepares is really done: what PostgreSQL only warns of would let it pass whatever is asked for then."""

import ast
import re
from collections.abc import Iterator

from tests.support import trees

_FILES = trees.list_files("tests")
_OWNERS_ALONE = re.compile(r"(^|[;\n])\s*(analyze|vacuum)\b", re.IGNORECASE)
# What sends statements as the service's own role.
_AS_THE_SERVICE = re.compile(r"(\w+\.)?alter(_any)?|(?!databases\.)[\w.]+\.rows|db\.(db\.)?(run|row|rows|stage)")


def test_tables_are_analyzed_by_their_owner():
    """The service's own role may not: PostgreSQL skips the table with a warning, and plans as it did before."""
    skipped = [
        f"{trees.relative_name(path)}:{call.lineno}"
        for path in _FILES
        for call in _calls_in_vain(trees.parse_file(path))
    ]

    assert skipped == [], (
        "analyzed as the service: use databases.run_as_owner with the URL that `isolated_database` gives"
    )


def _calls_in_vain(tree: ast.Module) -> Iterator[ast.Call]:
    constants = {
        target.id: _text(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _AS_THE_SERVICE.fullmatch(ast.unparse(call.func)):
            said = [constants.get(one.id, "") if isinstance(one, ast.Name) else _text(one) for one in call.args]
            if any(_OWNERS_ALONE.search(text) for text in said):
                yield call


def _text(node: ast.AST) -> str:
    """Return what is written out of a string."""
    parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return "".join(parts)
