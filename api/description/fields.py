"""Converts marshmallow schemas to JSON Schema; apispec converts the standard fields, this module the custom ones.

The schemas that load requests and dump responses also describe them. Each schema becomes a component under its own
name, with descriptions of its fields from the glossary.
"""

import inspect
import re
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields

from api.description import examples
from schemas import base, glossary, paging

Described = dict[str, Any]

_REF = "#/components/schemas/"

# Type and format of each custom field.
_CUSTOM_FIELDS: tuple[tuple[type[Any], str, str | None], ...] = (
    (base.Amount, "number", None),
    (base.Email, "string", "email"),
    (base.Instant, "string", "date-time"),
    (paging.QueryInteger, "integer", None),
    (paging.QueryFlag, "boolean", None),
    (fields.Function, "string", None),
)
_TYPES = {bool: "boolean", int: "integer", str: "string"}
# A default of null or of an empty text means only that the field is optional, and every text has at least 0 characters.
_NOISE = (("default", None), ("default", ""), ("minLength", 0))
# apispec gives the number of an object's keys as if they were the characters of a text.
_OBJECT_KEYWORDS = {"minLength": "minProperties", "maxLength": "maxProperties"}
_WORD = re.compile(r"[A-Za-z_]+")


def reference(name: str) -> Described:
    """Return the reference to a component."""
    return {"$ref": _REF + name}


def component_name(schema: type[Schema]) -> str:
    """Return the component name of a schema: its `wire_name`, else its class name without `Record`."""
    return schema.__dict__.get("wire_name") or schema.__name__.removesuffix("Record")


class Describer:
    """Converts schemas to JSON Schema (2020-12, for OpenAPI 3.1) and collects them in `components`."""

    def __init__(self) -> None:
        self.components: dict[str, Described] = {}
        plugin = MarshmallowPlugin()
        plugin.Converter = _Converter
        APISpec("Finderfee", "1", openapi_version="3.1.0", plugins=[plugin])
        assert isinstance(plugin.converter, _Converter)  # the specification has just bound it
        self._converter = plugin.converter
        self._converter.nested = self._add_schema
        self._is_answer = False
        for field, type, format in _CUSTOM_FIELDS:
            self._converter.map_to_openapi_type(field, type, format)
        self._converter.add_attribute_function(_describe_constant)

    def body(self, schema: Schema) -> Described:
        """Return the reference to the component of a request body."""
        self._is_answer = False
        return self._add_schema(schema)

    def answer(self, schema: Schema) -> Described:
        """Return the reference to the component of a response. Every field that is always there is required."""
        self._is_answer = True
        return self._add_schema(schema)

    def page(self, schema: Schema) -> Described:
        """Return the reference to the component of a page of records: `{items, nextCursor, hasMore}`."""
        items = self.answer(schema)
        name = f"{component_name(type(schema))}Page"
        properties = {
            "items": {"type": "array", "items": items},
            "nextCursor": {"type": ["string", "null"]},
            "hasMore": {"type": "boolean"},
        }
        described = {
            "type": "object",
            "description": "One page with the cursor of the next.",
            "required": [*properties],
        }
        return self.add(name, described | {"properties": _explain(name, properties)})

    def parameters(self, schema: Schema) -> list[Described]:
        """Return the parameters of a query string. None of them can be null."""
        self._is_answer = False
        described = self._describe_object(schema)
        required = described.get("required", [])
        return [
            parameter(name, "query", _remove_null(field), owner=component_name(type(schema)), required=name in required)
            for name, field in described["properties"].items()
        ]

    def add(self, name: str, described: Described) -> Described:
        """Add a component and return the reference to it. Raises ValueError when another one has the name."""
        if self.components.setdefault(name, described) != described:
            raise ValueError(f"two different records are called {name} in the description; give one a `wire_name`")
        return reference(name)

    def resolve(self, described: Described) -> Described:
        """Return the component of a reference."""
        return self.components[described["$ref"].removeprefix(_REF)]

    def _add_schema(self, schema: Schema) -> Described:
        described = self._describe_object(schema)
        properties = _explain(component_name(type(schema)), described["properties"])
        about = " ".join((inspect.getdoc(type(schema)) or "").split()).partition(". ")[0].removesuffix(".")
        described = {"type": "object", "description": f"{about}.", **described, "properties": properties}
        return self.add(component_name(type(schema)), described)

    def _describe_object(self, schema: Schema) -> Described:
        described: Described = _remove_noise(self._converter.fields2jsonschema(schema.fields, partial=schema.partial))
        may_all_lack = self._is_answer and getattr(schema, "all_may_lack", False)
        fields = {} if may_all_lack else schema.fields
        needed = [field.data_key or name for name, field in fields.items() if self._is_needed(field)]
        if not self._is_answer:
            # A missing field has an error code of its own, and null has the same: the schema accepts null only to
            # refuse it with that code.
            for name, field in schema.fields.items():
                key = field.data_key or name
                if self._is_needed(field) and not field.required:
                    described["properties"][key] = _remove_null(described["properties"][key])
        if needed:
            described["required"] = sorted({*described.get("required", []), *needed})
        return described

    def _is_needed(self, field: fields.Field[Any]) -> bool:
        if self._is_answer:
            return not field.metadata.get("may_lack")
        return bool(field.metadata.get("is_needed"))


class _Converter(OpenAPIConverter):
    """apispec's converter, with `Describer` adding the components."""

    nested: Any

    def resolve_nested_schema(self, schema: Any) -> Described:
        nested = schema if isinstance(schema, Schema) else schema()
        described: Described = self.nested(nested)
        return {"type": "array", "items": described} if nested.many else described


def parameter(name: str, place: str, schema: Described, *, owner: str, required: bool) -> Described:
    """Return one parameter of a path or a query, with its description from the glossary."""
    explained = _explain(owner, {name: schema})[name]
    sentence = explained.pop("description", None)
    described = {"name": name, "in": place, "required": required, "schema": explained}
    return described | ({"description": sentence} if sentence else {})


def _explain(owner: str, properties: Described) -> Described:
    return {name: _explain_field(owner, name, described) for name, described in properties.items()}


def _explain_field(owner: str, name: str, described: Described) -> Described:
    entry = glossary.entry(owner, name)
    field = described
    if entry and "$ref" not in described and "description" not in described:
        field = {"description": entry.sentence, **field}
    example = examples.field_example(described, entry.example if entry else ...)
    return field if example is ... else {**field, "examples": [example]}


def _describe_constant(self: OpenAPIConverter, field: fields.Field[Any], **_: Any) -> Described:
    if not isinstance(field, fields.Constant):
        return {}
    value = str(field.constant) if isinstance(field.constant, str) else field.constant  # an enum value is a text
    # A constant of a response is not the default of an optional field.
    if value is None:
        return {"type": ["string", "null"], "default": None}
    is_word = isinstance(value, str) and _WORD.fullmatch(value)
    return {"type": _TYPES[type(value)], "default": None} | ({"enum": [value]} if is_word else {})


def _remove_noise(described: Any) -> Any:
    if isinstance(described, list):
        return [_remove_noise(item) for item in described]
    if not isinstance(described, dict):
        return described
    names = _OBJECT_KEYWORDS if "object" in described.get("type", ()) else {}
    return {
        names.get(key, key): _remove_noise(value)
        for key, value in described.items()
        if (key, value) not in _NOISE and key != "readOnly"
    }


def _remove_null(described: Described) -> Described:
    kinds = described.get("type")
    if isinstance(kinds, list):
        described = described | {"type": next(kind for kind in kinds if kind != "null")}
    if "enum" in described:
        described = described | {"enum": [value for value in described["enum"] if value is not None]}
    return described
