"""The operations for the pages and the manifest: groups with rows of fields, example requests, refusals.

Built from the OpenAPI document alone, so that they cannot differ from it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from api.description import client_calls, commands

_REF = "#/components/schemas/"
_MAX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field, a parameter or a header: name, type, whether it is required, and its meaning."""

    name: str
    type: str
    is_required: bool
    about: str


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request or a response: its heading, its fields, and an example value."""

    heading: str
    rows: tuple[FieldRow, ...]
    example: Any


@dataclass(frozen=True, slots=True)
class OperationEntry:
    """An operation. `access` says who may call it and how often, `labels` say so in short; `refusals` are statuses with
    their codes. `python` and `javascript` are the same example request as `command`.
    """

    id: str
    method: str
    path: str
    summary: str
    more: str
    access: str
    callers: str
    labels: tuple[str, ...]
    parameters: Mapping[str, tuple[FieldRow, ...]]
    body: Body | None
    answers: tuple[Body, ...]
    refusals: tuple[tuple[str, tuple[str, ...]], ...]
    command: str
    python: str
    javascript: str


@dataclass(frozen=True, slots=True)
class Section:
    """A group of operations under one heading."""

    tag: str
    heading: str
    about: str
    entries: tuple[OperationEntry, ...]


def list_sections(document: Mapping[str, Any]) -> list[Section]:
    """Return the operations of the document by group, in reading order."""
    entries_by_tag: dict[str, list[OperationEntry]] = {}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            entries_by_tag.setdefault(described["tags"][0], []).append(
                _entry(method.upper(), path, described, document)
            )
    headings = {tag["name"]: tag for tag in document["tags"]}
    return [
        Section(tag, headings[tag]["x-displayName"], headings[tag]["description"], tuple(entries))
        for tag, entries in entries_by_tag.items()
    ]


def list_events(document: Mapping[str, Any]) -> list[tuple[str, Body]]:
    """Return each webhook's type with the fields of its data and the whole event as an example."""
    rows = []
    for type, methods in document["webhooks"].items():
        content = methods["post"]["requestBody"]["content"]["application/json"]
        data = _resolve(_resolve(content["schema"], document)["properties"]["data"], document)
        rows.append((type, Body(data["description"], tuple(_rows(data, document)), content["example"])))
    return rows


def _entry(method: str, path: str, described: Mapping[str, Any], document: Mapping[str, Any]) -> OperationEntry:
    more, _, access = described["description"].rpartition("\n\n")
    assert access  # the description always ends with the callers
    places = ("path", "query", "header")
    base_url = document["servers"][0]["url"]
    return OperationEntry(
        id=described["operationId"],
        method=method,
        path=path,
        summary=described["summary"],
        more=more,
        access=access,
        callers=described["x-callers"],
        labels=tuple(_labels(described)),
        parameters={place: tuple(_parameters(described, place)) for place in places},
        body=_body(described, document),
        answers=tuple(_answers(described, document)),
        refusals=tuple(
            (status, tuple(answer["x-codes"]))
            for status, answer in described["responses"].items()
            if "x-codes" in answer
        ),
        command=commands.curl_command(described, method, path, base_url=base_url),
        python=client_calls.python_call(described, method, path, base_url=base_url),
        javascript=client_calls.javascript_call(described, method, path, base_url=base_url),
    )


def _labels(described: Mapping[str, Any]) -> Iterator[str]:
    yield described["x-callers"]
    if "x-scope" in described:
        yield f"scope {described['x-scope']}"
    if "x-role" in described:
        yield described["x-role"] + ("" if described["x-role"] == "Owner" else " and above")
    if "x-verified-email" in described:
        yield "verified email"
    if "x-needs-login" in described:
        yield "interactive session"
    if "x-fresh-login-s" in described:
        yield "fresh login"
    if "x-plan" in described:
        yield f"{described['x-plan']} plan"
    if "x-needs-active-subscription" in described:
        yield "active subscription"
    if "x-rate-limit" in described:
        yield f"limit {described['x-rate-limit']}"
    if described.get("deprecated"):
        yield "deprecated"


def _parameters(described: Mapping[str, Any], place: str) -> Iterator[FieldRow]:
    for parameter in described["parameters"]:
        if parameter["in"] == place:
            about = " ".join([parameter.get("description", ""), *_limits(parameter["schema"])])
            yield FieldRow(parameter["name"], _type(parameter["schema"]), parameter["required"], about)


def _body(described: Mapping[str, Any], document: Mapping[str, Any]) -> Body | None:
    if "requestBody" not in described:
        return None
    content = described["requestBody"]["content"]["application/json"]
    return Body("Body", tuple(_rows(_resolve(content["schema"], document), document)), content["example"])


def _answers(described: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[Body]:
    for status, answer in described["responses"].items():
        content = answer.get("content", {}).get("application/json", {}) if status < "300" else {}
        schema, is_array = _item(content.get("schema", {}))
        record = _resolve(schema, document)
        if "properties" in record:
            kind = "array" if is_array else "page" if "nextCursor" in record["properties"] else "object"
            rows = tuple(_rows(record, document))
            yield Body(
                {"array": f"{status}: an array of", "page": f"{status}: a page"}.get(kind, status),
                rows,
                content["example"],
            )


def _item(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    return (schema["items"], True) if schema.get("type") == "array" else (schema, False)


def _rows(
    schema: Mapping[str, Any], document: Mapping[str, Any], prefix: str = "", depth: int = 0
) -> Iterator[FieldRow]:
    required = schema.get("required", [])
    for name, field in schema["properties"].items():
        about = " ".join([field.get("description", ""), *_limits(field)]).strip()
        inner, mark = _inner(field, document)
        if inner is not None and not about:
            about = inner["description"]
        yield FieldRow(prefix + name, _type(field), name in required, about)
        if inner is not None and depth < _MAX_DEPTH:
            yield from _rows(inner, document, f"{prefix}{name}{mark}.", depth + 1)


def _inner(field: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str]:
    """Return the record in a field, if there is one, and the mark that its rows have after the field's name."""
    for schema, mark in (
        (field, ""),
        (field.get("items", {}), "[]"),
        (field.get("additionalProperties", {}), ".*"),
        (next(iter(field.get("anyOf", [])), {}), ""),
    ):
        if isinstance(schema, Mapping) and "$ref" in schema:
            return _resolve(schema, document), mark
    return None, ""


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return "object"
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    kinds = field.get("type", "any")
    type = kinds if isinstance(kinds, str) else " or ".join(kinds)
    if "array" in type and "items" in field:
        type = type.replace("array", f"array of {_type(field['items'])}")
    return f"{type}, {field['format']}" if "format" in field else type


def _limits(field: Mapping[str, Any]) -> Iterator[str]:
    choices = field.get("enum") or field.get("items", {}).get("enum") or []
    if choices:
        yield "One of " + ", ".join(f"`{value}`" for value in choices if value is not None) + "."
    if "default" in field:
        default = field["default"] if isinstance(field["default"], str) else json.dumps(field["default"])
        yield f"Default: `{default}`."
    if "maxLength" in field and "enum" not in field:
        yield f"At most {field['maxLength']:,} characters."
    if "maxItems" in field:
        yield f"At most {field['maxItems']:,}."
    if "minimum" in field and "maximum" in field:
        yield f"From {field['minimum']:,} to {field['maximum']:,}."
    elif "minimum" in field:
        yield f"At least {field['minimum']:,}."
    elif "maximum" in field:
        yield f"At most {field['maximum']:,}."


def _resolve(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    component: Mapping[str, Any] = document["components"]["schemas"][schema["$ref"].removeprefix(_REF)]
    return component
