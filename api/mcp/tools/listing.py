"""Tools as tools/list returns them: as short as a model can still understand them.

Every character is part of the model's context in every turn, so a field is described at its first occurrence only, an
id not at all, and a hint is given only where it differs from the protocol's default.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from api.mcp.tools.binding import BoundTool
from api.mcp.tools.definition import ToolKind

_IDEMPOTENT_METHODS = ("PATCH", "PUT")
_SELF_EXPLANATORY_FORMATS = ("uuid", "email", "date-time")


def list_tools(tools: Iterable[BoundTool]) -> list[dict[str, Any]]:
    """Return the tools in their order, each with its input schema and hints."""
    described: set[tuple[str, str]] = set()
    return [_describe_tool(tool, described) for tool in tools]


def _describe_tool(bound: BoundTool, described: set[tuple[str, str]]) -> dict[str, Any]:
    properties = {name: _describe_once(name, field, described) for name, field in bound.properties.items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if bound.required:
        schema["required"] = list(bound.required)
    return {
        "name": bound.tool.name,
        "description": bound.tool.about,
        "inputSchema": schema,
        "annotations": _hints(bound),
    }


def _describe_once(name: str, field: Mapping[str, Any], described: set[tuple[str, str]]) -> dict[str, Any]:
    result = dict(field)
    sentence = result.get("description")
    if sentence is not None:
        if result.get("format") in _SELF_EXPLANATORY_FORMATS or (name, sentence) in described:
            del result["description"]
        described.add((name, sentence))
    if "anyOf" in result:
        result["anyOf"] = [_describe_once(name, choice, described) for choice in result["anyOf"]]
    if "items" in result:
        result["items"] = _describe_once(f"{name}[]", result["items"], described)
    if "properties" in result:
        result["properties"] = {
            inner: _describe_once(inner, value, described) for inner, value in result["properties"].items()
        }
    return result


def _hints(bound: BoundTool) -> dict[str, bool]:
    kind = bound.tool.kind
    if kind is ToolKind.Read:
        return {"readOnlyHint": True, "openWorldHint": False}
    is_destructive = kind is ToolKind.Destructive
    hints = {"destructiveHint": is_destructive}
    if bound.tool.is_idempotent or (
        bound.method == "DELETE" if is_destructive else bound.method in _IDEMPOTENT_METHODS
    ):
        hints["idempotentHint"] = True
    return hints if bound.tool.sends_email else hints | {"openWorldHint": False}
