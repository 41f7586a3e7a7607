"""`flask trigger` can cause every webhook event that something in the tree tells of."""

import ast
from collections.abc import Iterator

import pytest

from commands.developer import makers
from domain.webhooks import events
from tests.support.trees import ROOT, list_files

_TELLERS = ("event", "events_of_type", "frozen")


def _types(call: ast.Call, module: ast.Module) -> Iterator[str]:
    """Return how the types begin that a call tells of: whole names, or what stands before what varies."""
    (type_,) = (keyword.value for keyword in call.keywords if keyword.arg == "type")
    if isinstance(type_, ast.JoinedStr):
        yield type_.values[0].value if isinstance(type_.values[0], ast.Constant) else ""
    elif isinstance(type_, ast.Constant):
        yield type_.value
    else:  # decided elsewhere in the module
        yield from (
            one.value for one in ast.walk(module) if isinstance(one, ast.Constant) and one.value in events.TYPES
        )


def _emitted() -> dict[str, str]:
    """Return where each type, or the beginning of several, is told."""
    found = {}
    for path in list_files("pipelines"):
        module = ast.parse(path.read_text())
        for call in ast.walk(module):
            match call:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="emit"), attr=attr)) if attr in _TELLERS:
                    found |= dict.fromkeys(_types(call, module), str(path.relative_to(ROOT)))
    return found


@pytest.fixture(scope="module")
def emitted():
    """What is told, and where."""
    return _emitted()


def test_what_is_told_can_be_caused(emitted):
    lacking = {
        (type, place)
        for type in {*events.TYPES} - {*makers.MAKERS}
        for told, place in emitted.items()
        if type.startswith(told)
    }

    assert lacking == set()


def test_what_can_be_caused_is_told_somewhere(emitted):
    assert {type for type in makers.MAKERS if not any(type.startswith(told) for told in emitted)} == set()
