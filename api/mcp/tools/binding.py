"""Binds each tool to its operation: where an argument goes, and the input schema, made of the operation's own."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Flask

from api.description.fields import Describer
from api.description.openapi import camel
from api.edge import internal_requests
from api.edge.operations import Operation
from api.mcp.tools import withheld
from api.mcp.tools.row import Tool
from api.mcp.tools.withheld import WithheldFields

#: The argument that confirms a call which a preview was shown for.
CONFIRM_TOKEN = "confirmToken"  # noqa: S105  # the name of an argument
#: Rows of a list when nobody asks for more or fewer, and at most: what goes into a model's context has to be read.
DEFAULT_ROWS = 20
MOST_ROWS = 100

# What the operations call it how many rows they answer with.
_ROW_NAMES = ("take", "limit", "pageSize")
_ID = {"type": "string", "format": "uuid"}
_PARAMETER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")
# What helps a person who reads the description and only fills a model's context, and bounds that a refusal tells.
_LEFT_OUT = ("examples", "pattern", "maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum", "default")


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool with its operation. `path`, `query` and `body` lead from an argument to the operation's name of it.

    `withheld` are the fields of its answer that agents never receive, by their path, each with where a person finds it.
    `rows` is the argument that says how many rows are wanted, None where the operation always answers with all.
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
    def only_reads(self) -> bool:
        """Say whether a key that may only read can use it."""
        return self.operation.guard.scope == "read"


def bound(app: Flask, tool: Tool, toolset: str) -> BoundTool:
    """Return a tool with its operation. Raises KeyError where there is no such operation."""
    view: Any = app.view_functions[tool.endpoint]
    operation: Operation = view.operation
    rule = next(iter(app.url_map.iter_rules(tool.endpoint)))
    path = {camel(name): name for name in _PARAMETER.findall(rule.rule)}
    asked, sent = _Fields(operation.asks, "parameters"), _Fields(operation.takes, "body")
    query, body = (dict(_taken(tool, fields.properties)) for fields in (asked, sent))
    theirs = asked.properties | sent.properties
    rows = next((name for name in _ROW_NAMES if name in query), None)
    properties = dict.fromkeys(path, _ID) | {own: theirs[name] for own, name in (query | body).items()}
    if rows is not None:
        properties[rows] = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": DEFAULT_ROWS}
    if tool.may_ask:
        properties[CONFIRM_TOKEN] = {"type": "string"}
    needed = asked.required | sent.required
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
        withheld=withheld.fields_of(operation.gives),
    )


def _taken(tool: Tool, properties: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a tool with the operation's names of them."""
    own_names = {name: own for own, name in tool.renamed.items()}
    for name in properties:
        own = own_names.get(name, name)
        if name not in tool.hides and (not tool.only or own in tool.only):
            yield own, name


class _Fields:
    """What a query or a body may hold, as JSON Schema without references."""

    def __init__(self, schema: Any, place: str) -> None:
        self.properties: dict[str, Any] = {}
        self.required: set[str] = set()
        if schema is None:
            return
        describer = Describer()
        if place == "parameters":
            for parameter in describer.parameters(schema):
                self.properties[parameter["name"]] = _whole(parameter["schema"], describer)
                self.required |= {parameter["name"]} if parameter["required"] else set()
        else:
            described = describer.resolved(describer.body(schema))
            self.properties = _whole(described, describer)["properties"]
            self.required = set(described.get("required", []))


def _whole(described: Any, describer: Describer) -> Any:
    """Return a schema with every reference replaced by what it stands for, as short as it is still understood."""
    if isinstance(described, list):
        return [_whole(one, describer) for one in described]
    if not isinstance(described, dict):
        return described
    if "$ref" in described:
        return _whole({**describer.resolved(described), "description": ""}, describer)
    found = {key: _whole(value, describer) for key, value in described.items() if key not in _LEFT_OUT and value != ""}
    if "properties" in described:  # their names are the operation's, whatever they say
        found["properties"] = {name: _whole(field, describer) for name, field in described["properties"].items()}
    return found
