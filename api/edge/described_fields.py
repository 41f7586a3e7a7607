"""How marshmallow schemas read as JSON Schema; the plain fields are apispec's, ours are named here.

What a body may hold and what an answer holds are described from the very schemas that read and write them.
"""

from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields

from schemas import base, paging

# Type and format of each field of our own.
_OUR_FIELDS: tuple[tuple[type[Any], str, str | None], ...] = (
    (base.Amount, "number", None),
    (base.Email, "string", "email"),
    (base.Instant, "string", "date-time"),
    (paging.QueryInteger, "integer", None),
    (paging.QueryFlag, "boolean", None),
    (fields.Function, "string", None),
)


class Describer:
    """Turns schemas into JSON Schema (2020-12, as OpenAPI 3.1 has it)."""

    def __init__(self) -> None:
        # No names: each schema is described where it stands.
        plugin = MarshmallowPlugin(schema_name_resolver=lambda _: None)  # type: ignore[arg-type,return-value]
        APISpec("Finderfee", "1", openapi_version="3.1.0", plugins=[plugin])
        assert plugin.converter is not None  # the specification has just bound it
        self._converter = plugin.converter
        for field, type, format in _OUR_FIELDS:
            self._converter.map_to_openapi_type(field, type, format)
        self._converter.add_attribute_function(_constant)

    def body(self, schema: Schema) -> dict[str, Any]:
        """Return what a request may send."""
        return self._object(schema)

    def answer(self, schema: Schema) -> dict[str, Any]:
        """Return what an answer holds."""
        return self._object(schema)

    def parameters(self, schema: Schema) -> list[dict[str, Any]]:
        """Return the parameters of a query string. None of them can be null."""
        described = self._object(schema)
        required = described.get("required", [])
        return [
            {"name": name, "in": "query", "required": name in required, "schema": _not_null(found)}
            for name, found in described["properties"].items()
        ]

    def _object(self, schema: Schema) -> dict[str, Any]:
        described: dict[str, Any] = _tidied(self._converter.fields2jsonschema(schema.fields, partial=schema.partial))
        needed = [field.data_key for field in schema.fields.values() if field.metadata.get("is_needed")]
        if needed:
            described["required"] = sorted({*described.get("required", []), *needed})
        return described


def _constant(self: OpenAPIConverter, field: fields.Field[Any], **_: Any) -> dict[str, Any]:
    return {"const": field.constant} if isinstance(field, fields.Constant) else {}


def _tidied(described: Any) -> Any:
    # A default of null or of nothing says no more than that the field may be left out, and every text has at least no
    # characters.
    if isinstance(described, list):
        return [_tidied(one) for one in described]
    if not isinstance(described, dict):
        return described
    return {
        key: _tidied(value)
        for key, value in described.items()
        if (key, value) not in (("default", None), ("default", ""), ("minLength", 0)) and key != "readOnly"
    }


def _not_null(described: dict[str, Any]) -> dict[str, Any]:
    kinds = described.get("type")
    if isinstance(kinds, list):
        described = described | {"type": next(kind for kind in kinds if kind != "null")}
    if "enum" in described:
        described = described | {"enum": [value for value in described["enum"] if value is not None]}
    return described
