"""Tools as tools/list shows them: as short as a model still understands them.

Every character of it stands in a model's context with every turn, so a field is explained where it first stands and an
id not at all, and a hint is only given where it is not what the protocol assumes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from api.mcp.tools.binding import BoundTool
from api.mcp.tools.row import ToolKind

_REPEATED_METHODS = ("PATCH", "PUT")
_EXPLAIN_THEMSELVES = ("uuid", "email", "date-time")


def shown(tools: Iterable[BoundTool]) -> list[dict[str, Any]]:
    """Return the tools in their order, each with its input schema and hints."""
    said: set[tuple[str, str]] = set()
    return [_shown(tool, said) for tool in tools]


def _shown(bound: BoundTool, said: set[tuple[str, str]]) -> dict[str, Any]:
    properties = {name: _explained_once(name, field, said) for name, field in bound.properties.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if bound.required:
        schema["required"] = list(bound.required)
    return {
        "name": bound.tool.name,
        "description": bound.tool.about,
        "inputSchema": schema,
        "annotations": _hints(bound),
    }


def _explained_once(name: str, field: Mapping[str, Any], said: set[tuple[str, str]]) -> dict[str, Any]:
    found = dict(field)
    sentence = found.get("description")
    if sentence is not None:
        if found.get("format") in _EXPLAIN_THEMSELVES or (name, sentence) in said:
            del found["description"]
        said.add((name, sentence))
    if "items" in found:
        found["items"] = _explained_once(f"{name}[]", found["items"], said)
    if "properties" in found:
        found["properties"] = {inner: _explained_once(inner, one, said) for inner, one in found["properties"].items()}
    return found


def _hints(bound: BoundTool) -> dict[str, bool]:
    kind = bound.tool.kind
    if kind is ToolKind.Read:
        return {"readOnlyHint": True, "openWorldHint": False}
    is_final = kind is ToolKind.Destructive
    hints = {"destructiveHint": is_final}
    if bound.tool.repeats or (bound.method == "DELETE" if is_final else bound.method in _REPEATED_METHODS):
        hints["idempotentHint"] = True
    return hints if bound.tool.mails else hints | {"openWorldHint": False}
