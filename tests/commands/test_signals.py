"""What a handler of a signal does it may do at any moment of the main thread."""

import ast
from collections.abc import Iterator

from tests.support import trees


def test_what_a_handler_sets_is_asked_and_not_waited_for():
    """An event takes its lock to be set and to be waited for: a handler amid the wait waits for its own thread."""
    waiting = [
        f"{trees.relative_name(path)}:{line}"
        for path in trees.list_files(*trees.PRODUCT)
        for line in _waits(trees.parse_file(path))
    ]

    assert waiting == [], "ask is_set, and sleep in between"


def test_a_wait_for_what_a_handler_sets_is_seen():
    heard = "signal.signal(signal.SIGINT, lambda *_: is_told.set())"

    assert list(_waits(ast.parse(f"{heard}\nis_told.wait()"))) == [2]
    assert list(_waits(ast.parse(f"{heard}\nother.wait()\nis_told.is_set()"))) == []


def _waits(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that wait for what a handler in this file sets."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    heard = {
        ast.unparse(inner.func.value)
        for call in calls
        if ast.unparse(call.func) == "signal.signal"
        for inner in ast.walk(call)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "set"
    }
    yield from (call.lineno for call in calls if call.func.attr == "wait" and ast.unparse(call.func.value) in heard)
