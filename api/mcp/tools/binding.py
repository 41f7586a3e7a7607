"""Binds each tool to its operation: the place of each argument, and the input schema, from the operation's own."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Flask

from api.description.fields import Describer
from api.description.openapi import camel_case
from api.edge import internal_requests
from api.edge.operations import Operation
from api.mcp.tools import withheld_fields
from api.mcp.tools.definition import Tool
from api.mcp.tools.withheld_fields import WithheldFields

#: The argument that confirms a call after its preview.
CONFIRM_TOKEN = "confirmToken"  # noqa: S105  # the name of an argument
#: Rows of a list by default and at most: a model has to read everything in its context.
DEFAULT_ROWS = 20
MAX_ROWS = 100

# The operations' names for the number of rows in an answer.
_ROW_NAMES = ("take", "limit", "pageSize")
_ID = {"type": "string", "format": "uuid"}
_PARAMETER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")
# Keywords that help a person and only fill a model's context, and limits that a refusal names anyway.
_OMITTED_KEYWORDS = (
    "examples",
    "pattern",
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "maximum",
    "minimum",
    "default",
)


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool with its operation. `path`, `query` and `body` map an argument to the operation's name for it.

    `withheld` are the fields of its answer that agents never receive, by their path, each with where a person finds it.
    `rows` is the argument for the number of rows, None if the operation always answers with all.
    """

    tool: Tool
    toolset: str
    operation: Operation
    method: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, str]
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    rows: str | None
    withheld: WithheldFields

    @property
    def is_read_only(self) -> bool:
        """Return whether a read-only key can use it."""
        return self.operation.guard.scope == "read"


def bind(app: Flask, tool: Tool, toolset: str) -> BoundTool:
    """Return a tool with its operation. Raises KeyError for an unknown operation."""
    view: Any = app.view_functions[tool.endpoint]
    operation: Operation = view.operation
    rule = next(iter(app.url_map.iter_rules(tool.endpoint)))
    path = {camel_case(name): name for name in _PARAMETER.findall(rule.rule)}
    query_fields, body_fields = _Fields(operation.asks, "parameters"), _Fields(operation.takes, "body")
    query, body = (dict(_own_names(tool, fields.properties)) for fields in (query_fields, body_fields))
    fields = query_fields.properties | body_fields.properties
    rows = next((name for name in _ROW_NAMES if name in query), None)
    properties = dict.fromkeys(path, _ID) | {own: fields[name] for own, name in (query | body).items()}
    if rows is not None:
        properties[rows] = {"type": "integer", "minimum": 1, "maximum": MAX_ROWS, "default": DEFAULT_ROWS}
    if tool.may_need_confirmation:
        properties[CONFIRM_TOKEN] = {"type": "string"}
    needed = query_fields.required | body_fields.required
    return BoundTool(
        tool=tool,
        toolset=toolset,
        operation=operation,
        method=internal_requests.method_of(app, tool.endpoint),
        path=path,
        query=query,
        body=body,
        properties=properties,
        required=(*path, *(own for own, name in (query | body).items() if name in needed)),
        rows=rows,
        withheld=withheld_fields.find_withheld_fields(operation.gives),
    )


def _own_names(tool: Tool, properties: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a tool with the operation's names for them."""
    own_names = {name: own for own, name in tool.renamed.items()}
    for name in properties:
        own = own_names.get(name, name)
        if name not in tool.hides and (not tool.only or own in tool.only):
            yield own, name


class _Fields:
    """The fields of a query or a body, as JSON Schema without references."""

    def __init__(self, schema: Any, place: str) -> None:
        self.properties: dict[str, Any] = {}
        self.required: set[str] = set()
        if schema is None:
            return
        describer = Describer()
        if place == "parameters":
            for parameter in describer.parameters(schema):
                self.properties[parameter["name"]] = _inline_references(parameter["schema"], describer)
                self.required |= {parameter["name"]} if parameter["required"] else set()
        else:
            described = describer.resolve(describer.body(schema))
            self.properties = _inline_references(described, describer)["properties"]
            self.required = set(described.get("required", []))


def _inline_references(described: Any, describer: Describer) -> Any:
    """Return a schema with every reference replaced by its component, without the omitted keywords."""
    if isinstance(described, list):
        return [_inline_references(item, describer) for item in described]
    if not isinstance(described, dict):
        return described
    if "$ref" in described:
        return _inline_references({**describer.resolve(described), "description": ""}, describer)
    inlined = {
        key: _inline_references(value, describer)
        for key, value in described.items()
        if key not in _OMITTED_KEYWORDS and value != ""
    }
    if "properties" in described:  # a property may have the name of an omitted keyword
        inlined["properties"] = {
            name: _inline_references(field, describer) for name, field in described["properties"].items()
        }
    return inlined
