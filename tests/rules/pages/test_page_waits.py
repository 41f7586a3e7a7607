"""After a browser action a test waits for its result, so that it never reads the page that it has left.

A click returns before the new page is loaded, and a check without a wait would pass on the old page's elements. The
next statement after an action must be another action on the same page, or one that waits.
"""

import ast
import itertools
from collections.abc import Iterator

from tests.support import trees

_ACTIONS = {"click", "dblclick", "tap", "check", "uncheck", "select_option", "set_checked"}
_KEYS = {"press"}
# Calls that read the page or the database without waiting, that leave the page while its request may still be on its
# way, or that process a request that may not have arrived yet.
_WITHOUT_WAIT = {
    "all",
    "all_inner_texts",
    "all_text_contents",
    "content",
    "cookies",
    "count",
    "drain",
    "evaluate",
    "evaluate_all",
    "goto",
    "is_checked",
    "is_hidden",
    "is_visible",
    "pay",
    "reload",
    "rows",
    "run",
    "title",
    "url",
}


def test_browser_actions_are_awaited():
    missing_waits = [
        f"{trees.relative_name(path)}:{line}"
        for path in trees.list_files("tests/browser")
        for line in find_missing_waits(trees.parse_file(path))
    ]

    assert missing_waits == []


def test_missing_wait_is_found():
    click = "page.get_by_role('button').click()"
    for statement in (
        "assert page.url == 'x'",
        "page.goto('/x')",
        "assert page.locator('a').count() == 1",
        "x = page.url",
    ):
        assert list(find_missing_waits(ast.parse(f"def test(page):\n    {click}\n    {statement}"))) == [3]
    for statement in ("expect(page).to_have_url('x')", "page.locator('a').click()", "press(page.locator('a'))"):
        assert list(find_missing_waits(ast.parse(f"def test(page):\n    {click}\n    {statement}"))) == []
    assert (
        list(find_missing_waits(ast.parse("def test(page):\n    press(page.locator('a'))\n    assert page.url == 'x'")))
        == []
    )


def find_missing_waits(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that read or leave a page immediately after an action on it."""
    for body in _list_bodies(tree):
        for before, after in itertools.pairwise(body):
            if isinstance(before, ast.Expr) and _is_action(before.value) and _list_names(after) & _WITHOUT_WAIT:
                yield after.lineno


def _list_bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                yield body


def _is_action(expression: ast.expr) -> bool:
    """Return whether an expression is a browser action: a click, or the Enter key, which submits forms."""
    if not isinstance(expression, ast.Call) or not isinstance(expression.func, ast.Attribute):
        return False
    is_enter = any(isinstance(argument, ast.Constant) and argument.value == "Enter" for argument in expression.args)
    return expression.func.attr in _ACTIONS or (expression.func.attr in _KEYS and is_enter)


def _list_names(statement: ast.stmt) -> set[str]:
    """Return the names and attributes that a statement uses, or none if it waits for a result."""
    if any(isinstance(node, ast.Name) and node.id in {"expect", "press"} for node in ast.walk(statement)):
        return set()
    heads = [statement] if not isinstance(statement, ast.With | ast.For | ast.If | ast.While) else statement.body[:1]
    nodes = [node for head in heads for node in ast.walk(head)]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}
