"""Signal handlers must be safe at any point of the main thread."""

import ast
from collections.abc import Iterator

from tests.support import trees


def test_event_set_by_a_signal_handler_is_polled():
    """Event.set and Event.wait take the same lock: a handler that runs during a wait would block its own thread."""
    waits = [
        f"{trees.relative_name(path)}:{line}"
        for path in trees.list_files(*trees.PRODUCT)
        for line in _find_waits(trees.parse_file(path))
    ]

    assert waits == [], "ask is_set, and sleep in between"


def test_wait_for_an_event_of_a_handler_is_detected():
    handled = "signal.signal(signal.SIGINT, lambda *_: is_told.set())"

    assert list(_find_waits(ast.parse(f"{handled}\nis_told.wait()"))) == [2]
    assert list(_find_waits(ast.parse(f"{handled}\nother.wait()\nis_told.is_set()"))) == []


def _find_waits(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that wait for an event set by a signal handler in this file."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    handled = {
        ast.unparse(inner.func.value)
        for call in calls
        if ast.unparse(call.func) == "signal.signal"
        for inner in ast.walk(call)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "set"
    }
    yield from (call.lineno for call in calls if call.func.attr == "wait" and ast.unparse(call.func.value) in handled)
