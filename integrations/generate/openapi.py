"""Reads the interface of the clients from the OpenAPI description: operations of API keys, records, events.

Both generators use it, so that the clients have the same structure. Raises ValueError with the place for a description
that a client could not implement.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]

#: Callers with an API key. Members, affiliates and operators have sessions, the public has none, and agents have their
#: own protocol.
CALLERS = frozenset({"brand", "signed"})
_REF = "#/components/schemas/"
_HEADERS = frozenset({"Idempotency-Key", "X-Service-Signature"})
_PAGE = frozenset({"items", "nextCursor", "hasMore"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name in the API, its schema and its description."""

    name: str
    schema: Schema
    about: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operation: method, path, parameters and result. `result` is None for a response without a body."""

    id: str
    method: str
    path: str
    about: str
    path_parameters: tuple[Parameter, ...]
    query: tuple[Parameter, ...]
    body: Schema | None
    needs_body: bool
    result: Schema | None
    item: Schema | None
    is_signed: bool
    takes_key: bool
    is_deprecated: bool

    @property
    def iterator_id(self) -> str:
        """Return the name of the method that iterates over all pages: iteratePrograms for listPrograms."""
        return "iterate" + re.sub("^[a-z]+", "", self.id)


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one tag."""

    tag: str
    about: str
    calls: tuple[Call, ...]

    @property
    def class_name(self) -> str:
        """Return the class name of the tag."""
        return "".join(word.capitalize() for word in re.findall("[a-z0-9]+", self.tag))


@dataclass(frozen=True, slots=True)
class Interface:
    """The interface of a client. `records` are by name, `events` name records, in the document's order."""

    groups: tuple[Group, ...]
    records: Mapping[str, Schema]
    events: tuple[str, ...]


def read_interface(document: Schema) -> Interface:
    """Return the interface of the clients. Raises ValueError for an operation they could not call."""
    components = document["components"]["schemas"]
    calls: dict[str, list[Call]] = {}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            if described["x-callers"] in CALLERS:
                calls.setdefault(described["tags"][0], []).append(_call(method.upper(), path, described, components))
    groups = tuple(
        Group(tag["name"], tag["description"], tuple(calls[tag["name"]]))
        for tag in document["tags"]
        if tag["name"] in calls
    )
    events = tuple(_event(methods["post"]) for methods in document["webhooks"].values())
    roots = [schema for group in groups for call in group.calls for schema in (call.body, call.result)]
    roots += [{"$ref": _REF + name} for name in events]
    return Interface(groups, dict(sorted(_collect_records(roots, components).items())), events)


def record_name(schema: Schema) -> str:
    """Return the name of the referenced record."""
    return str(schema["$ref"]).removeprefix(_REF)


def description(described: Schema) -> str:
    """Return a schema's description in one line."""
    return " ".join(str(described.get("description", "")).split())


def _call(method: str, path: str, described: Schema, components: Mapping[str, Schema]) -> Call:
    where = f"{method} {path}"
    parameters = described["parameters"]
    headers = {parameter["name"] for parameter in parameters if parameter["in"] == "header"}
    if headers - _HEADERS:
        raise ValueError(f"{where}: no client sends {sorted(headers - _HEADERS)}")
    result, others = _success_schema(described, where)
    content = described.get("requestBody", {}).get("content", {})
    page = components[record_name(result)] if result and "$ref" in result else {}
    query = tuple(
        Parameter(parameter["name"], parameter["schema"], description(parameter))
        for parameter in parameters
        # The media type is fixed: the first one.
        if parameter["in"] == "query" and not (others and parameter["name"] == "format")
    )
    is_page = set(page.get("properties", {})) == _PAGE and any(parameter.name == "cursor" for parameter in query)
    return Call(
        id=described["operationId"],
        method=method,
        path=path,
        about="\n\n".join(part for part in (f"{described['summary']}.", _access(described)) if part),
        path_parameters=tuple(
            Parameter(parameter["name"], parameter["schema"], description(parameter))
            for parameter in parameters
            if parameter["in"] == "path"
        ),
        query=query,
        body=content["application/json"]["schema"] if content else None,
        needs_body=bool(described.get("requestBody", {}).get("required")),
        result=result,
        item=page["properties"]["items"]["items"] if is_page else None,
        is_signed=described["x-callers"] == "signed",
        takes_key="Idempotency-Key" in headers,
        is_deprecated=bool(described.get("deprecated")),
    )


def _success_schema(described: Schema, where: str) -> tuple[Schema | None, bool]:
    """Return the schema of a success, and whether it has other media types."""
    contents = [
        answer["content"] for status, answer in described["responses"].items() if status < "300" and "content" in answer
    ]
    if not contents:
        return None, False
    # JSON if available; else text, or bytes.
    schemas = [content.get("application/json", next(iter(content.values())))["schema"] for content in contents]
    if any(schema != schemas[0] for schema in schemas):
        raise ValueError(f"{where}: successes of two kinds")
    return schemas[0], len(contents[0]) > 1


def _access(described: Schema) -> str:
    parts = [f"Scope {described['x-scope']}." if "x-scope" in described else ""]
    parts.append(f"Plan {described['x-plan']} or higher." if "x-plan" in described else "")
    codes = sorted({code for answer in described["responses"].values() for code in answer.get("x-codes", ())})
    parts.append(f"Refused with {', '.join(codes)}." if codes else "")
    return " ".join(part for part in parts if part)


def _event(described: Schema) -> str:
    return record_name(described["requestBody"]["content"]["application/json"]["schema"])


def _collect_records(roots: list[Schema | None], components: Mapping[str, Schema]) -> dict[str, Schema]:
    records: dict[str, Schema] = {}
    names = [name for schema in roots if schema is not None for name in _references(schema)]
    while names:
        name = names.pop()
        if name not in records:
            records[name] = components[name]
            names += _references(components[name])
    return records


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield record_name(schema)
        for inner in schema.values():
            yield from _references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)
