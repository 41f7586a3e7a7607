"""Statements with which a test prepares its data take effect: PostgreSQL only warns about ones that it skips."""

import ast
import re
from collections.abc import Iterator

from tests.support import trees

_FILES = trees.list_files("tests")
_OWNER_STATEMENTS = re.compile(r"(^|[;\n])\s*(analyze|vacuum)\b", re.IGNORECASE)
# Calls that send statements with the service's own role.
_SERVICE_CALLS = re.compile(r"(\w+\.)?alter(_any)?|(?!databases\.)[\w.]+\.rows|db\.(db\.)?(run|row|rows|stage)")


def test_tables_are_analyzed_by_their_owner():
    """With the service's own role PostgreSQL skips the table with a warning, and its plans stay as before."""
    skipped = [
        f"{trees.relative_name(path)}:{call.lineno}"
        for path in _FILES
        for call in _find_skipped_calls(trees.parse_file(path))
    ]

    assert skipped == [], (
        "analyzed with the service's role: use databases.run_as_owner with the URL of `isolated_database`"
    )


def _find_skipped_calls(tree: ast.Module) -> Iterator[ast.Call]:
    constants = {
        target.id: _literal_text(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _SERVICE_CALLS.fullmatch(ast.unparse(call.func)):
            texts = [
                constants.get(argument.id, "") if isinstance(argument, ast.Name) else _literal_text(argument)
                for argument in call.args
            ]
            if any(_OWNER_STATEMENTS.search(text) for text in texts):
                yield call


def _literal_text(node: ast.AST) -> str:
    """Return the literal parts of a string or f-string."""
    parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return "".join(parts)
