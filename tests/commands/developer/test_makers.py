"""`flask trigger` can cause every webhook event that the pipelines emit."""

import ast
from collections.abc import Iterator

import pytest

from commands.developer import makers
from domain.webhooks import events
from tests.support.trees import ROOT, list_files

_EMITTING_FUNCTIONS = ("event", "events_of_type", "frozen")


def _type_prefixes(call: ast.Call, module: ast.Module) -> Iterator[str]:
    """Yield a prefix of each event type that a call emits: the whole name, or the constant start of an f-string."""
    (type_,) = (keyword.value for keyword in call.keywords if keyword.arg == "type")
    if isinstance(type_, ast.JoinedStr):
        yield type_.values[0].value if isinstance(type_.values[0], ast.Constant) else ""
    elif isinstance(type_, ast.Constant):
        yield type_.value
    else:  # decided elsewhere in the module
        yield from (
            node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and node.value in events.TYPES
        )


def _find_emissions() -> dict[str, str]:
    """Return the file that emits each event type or prefix of types."""
    emitting_files = {}
    for path in list_files("pipelines"):
        module = ast.parse(path.read_text())
        for call in ast.walk(module):
            match call:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="emit"), attr=attr)) if attr in _EMITTING_FUNCTIONS:
                    emitting_files |= dict.fromkeys(_type_prefixes(call, module), str(path.relative_to(ROOT)))
    return emitting_files


@pytest.fixture(scope="module")
def emissions():
    """Return the emitting file by event type or prefix of types."""
    return _find_emissions()


def test_every_emitted_event_type_has_a_maker(emissions):
    lacking = {
        (type, place)
        for type in {*events.TYPES} - {*makers.MAKERS}
        for prefix, place in emissions.items()
        if type.startswith(prefix)
    }

    assert lacking == set()


def test_every_maker_has_an_emitted_event_type(emissions):
    assert {type for type in makers.MAKERS if not any(type.startswith(prefix) for prefix in emissions)} == set()
