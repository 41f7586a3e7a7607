"""What of the description becomes a client: the operations that an API key may call, their records, the events.

What the two printers share is decided here, so that the clients have one shape. A description that says something in
a way that no client could follow raises ValueError with the place.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]

#: Who calls with an API key; people, affiliates and operators have sessions, the public sends none, and agents have
#: clients of their own protocol.
CALLERS = frozenset({"brand", "signed"})
_REF = "#/components/schemas/"
_HEADERS = frozenset({"Idempotency-Key", "X-Service-Signature"})
_PAGE = frozenset({"items", "nextCursor", "hasMore"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A parameter: its name on the wire, what it takes, what it means."""

    name: str
    schema: Schema
    about: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operation: how it is called, what it takes and gives. `gives` is None for an answer without a body."""

    id: str
    method: str
    path: str
    about: str
    path_parameters: tuple[Asked, ...]
    query: tuple[Asked, ...]
    body: Schema | None
    needs_body: bool
    gives: Schema | None
    item: Schema | None
    is_signed: bool
    takes_key: bool
    is_deprecated: bool

    @property
    def iterator_id(self) -> str:
        """What the method is called that walks all pages: listPrograms has iteratePrograms."""
        return "iterate" + re.sub("^[a-z]+", "", self.id)


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one tag."""

    tag: str
    about: str
    calls: tuple[Call, ...]

    @property
    def class_name(self) -> str:
        """The tag as a class is called."""
        return "".join(word.capitalize() for word in re.findall("[a-z0-9]+", self.tag))


@dataclass(frozen=True, slots=True)
class Interface:
    """All that a client is made of. `records` are by name, `events` name records, in the document's order."""

    groups: tuple[Group, ...]
    records: Mapping[str, Schema]
    events: tuple[str, ...]


def interface(document: Schema) -> Interface:
    """Return what the clients are made of. Raises ValueError for what they could not call."""
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
    wanted = [schema for group in groups for call in group.calls for schema in (call.body, call.gives)]
    wanted += [{"$ref": _REF + name} for name in events]
    return Interface(groups, dict(sorted(_reached(wanted, components).items())), events)


def named(schema: Schema) -> str:
    """Return the record that a reference names."""
    return str(schema["$ref"]).removeprefix(_REF)


def sentence(described: Schema) -> str:
    """Return what a schema says of itself, in one line."""
    return " ".join(str(described.get("description", "")).split())


def _call(method: str, path: str, described: Schema, components: Mapping[str, Schema]) -> Call:
    where = f"{method} {path}"
    parameters = described["parameters"]
    headers = {one["name"] for one in parameters if one["in"] == "header"}
    if headers - _HEADERS:
        raise ValueError(f"{where}: no client sends {sorted(headers - _HEADERS)}")
    gives, others = _given(described, where)
    content = described.get("requestBody", {}).get("content", {})
    page = components[named(gives)] if gives and "$ref" in gives else {}
    query = tuple(
        Asked(one["name"], one["schema"], sentence(one))
        for one in parameters
        # Which media type comes is settled: the first of them.
        if one["in"] == "query" and not (others and one["name"] == "format")
    )
    is_page = set(page.get("properties", {})) == _PAGE and any(one.name == "cursor" for one in query)
    return Call(
        id=described["operationId"],
        method=method,
        path=path,
        about="\n\n".join(part for part in (f"{described['summary']}.", _access(described)) if part),
        path_parameters=tuple(
            Asked(one["name"], one["schema"], sentence(one)) for one in parameters if one["in"] == "path"
        ),
        query=query,
        body=content["application/json"]["schema"] if content else None,
        needs_body=bool(described.get("requestBody", {}).get("required")),
        gives=gives,
        item=page["properties"]["items"]["items"] if is_page else None,
        is_signed=described["x-callers"] == "signed",
        takes_key="Idempotency-Key" in headers,
        is_deprecated=bool(described.get("deprecated")),
    )


def _given(described: Schema, where: str) -> tuple[Schema | None, bool]:
    """Return the schema of a success, and whether there are other media types of it."""
    found = [
        answer["content"] for status, answer in described["responses"].items() if status < "300" and "content" in answer
    ]
    if not found:
        return None, False
    # JSON where there is a choice; else text, or bytes.
    schemas = [content.get("application/json", next(iter(content.values())))["schema"] for content in found]
    if any(schema != schemas[0] for schema in schemas):
        raise ValueError(f"{where}: successes of two kinds")
    return schemas[0], len(found[0]) > 1


def _access(described: Schema) -> str:
    said = [f"Scope {described['x-scope']}." if "x-scope" in described else ""]
    said.append(f"Plan {described['x-plan']} or higher." if "x-plan" in described else "")
    codes = sorted({code for answer in described["responses"].values() for code in answer.get("x-codes", ())})
    said.append(f"Refused with {', '.join(codes)}." if codes else "")
    return " ".join(part for part in said if part)


def _event(described: Schema) -> str:
    return named(described["requestBody"]["content"]["application/json"]["schema"])


def _reached(wanted: list[Schema | None], components: Mapping[str, Schema]) -> dict[str, Schema]:
    found: dict[str, Schema] = {}
    names = [name for schema in wanted if schema is not None for name in _references(schema)]
    while names:
        name = names.pop()
        if name not in found:
            found[name] = components[name]
            names += _references(components[name])
    return found


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield named(schema)
        for inner in schema.values():
            yield from _references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)
