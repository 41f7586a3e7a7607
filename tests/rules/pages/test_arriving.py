"""What leads to another page in a browser is waited for, so that nothing is read of the page that was left.

A click is done when it is clicked, and the old page's elements satisfy whatever is asked at once. After an act, the
next thing that a test does is another act on the same page, or something that waits.
"""

import ast
import itertools
from collections.abc import Iterator

from tests.support import trees

_ACTS = {"click", "dblclick", "tap", "check", "uncheck", "select_option", "set_checked"}
_KEYS = {"press"}
# What is answered at once, as page or database are now; what leaves the page, whatever is on its way from there; and
# what works on what the act asks for, which may not have been asked yet.
_AT_ONCE = {
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
    found = [
        f"{trees.relative_name(path)}:{line}"
        for path in trees.list_files("tests/browser")
        for line in hasty(trees.parse_file(path))
    ]

    assert found == []


def test_missing_wait_is_found():
    acts = "page.get_by_role('button').click()"
    for said in ("assert page.url == 'x'", "page.goto('/x')", "assert page.locator('a').count() == 1", "x = page.url"):
        assert list(hasty(ast.parse(f"def test(page):\n    {acts}\n    {said}"))) == [3]
    for calm in ("expect(page).to_have_url('x')", "page.locator('a').click()", "press(page.locator('a'))"):
        assert list(hasty(ast.parse(f"def test(page):\n    {acts}\n    {calm}"))) == []
    assert list(hasty(ast.parse("def test(page):\n    press(page.locator('a'))\n    assert page.url == 'x'"))) == []


def hasty(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that read a page, or leave it, right after an act on it."""
    for body in _bodies(tree):
        for before, after in itertools.pairwise(body):
            if isinstance(before, ast.Expr) and _is_act(before.value) and _names(after) & _AT_ONCE:
                yield after.lineno


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                yield body


def _is_act(said: ast.expr) -> bool:
    """Return whether an expression is an act: a click, or the Enter key, by which forms are sent."""
    if not isinstance(said, ast.Call) or not isinstance(said.func, ast.Attribute):
        return False
    is_enter = any(isinstance(one, ast.Constant) and one.value == "Enter" for one in said.args)
    return said.func.attr in _ACTS or (said.func.attr in _KEYS and is_enter)


def _names(statement: ast.stmt) -> set[str]:
    """Return what a statement calls or reads, where nothing in it waits for something new."""
    if any(isinstance(one, ast.Name) and one.id in {"expect", "press"} for one in ast.walk(statement)):
        return set()
    heads = [statement] if not isinstance(statement, ast.With | ast.For | ast.If | ast.While) else statement.body[:1]
    named = [one for head in heads for one in ast.walk(head)]
    attributes = {one.attr for one in named if isinstance(one, ast.Attribute)}
    return attributes | {one.id for one in named if isinstance(one, ast.Name)}
