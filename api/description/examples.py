"""Examples of requests and responses, built from their JSON Schema.

An example of the glossary is used if it fits the type, else one of the type. `...` means that there is no example.
"""

from collections.abc import Mapping
from typing import Any

_ID = "3f0c5f1f-7a11-4c0e-9a57-0d8f5d2e6c1b"
_BY_FORMAT = {
    "uuid": _ID,
    "date-time": "2026-05-18T09:12:44.000Z",
    "date": "2026-05-18",
    "email": "robin@example.com",
}
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_REF = "#/components/schemas/"


def field_example(described: Mapping[str, Any], glossary_example: Any) -> Any:
    """Return an example of one field: that of the glossary if it fits, else one from type, format and enum.

    Objects and arrays of objects have no example of their own: theirs is composed of their fields' examples.
    """
    if glossary_example is not ... and _fits(described, glossary_example):
        return glossary_example
    if "enum" in described:
        return next(value for value in described["enum"] if value is not None)
    if described.get("format") in _BY_FORMAT:
        return _BY_FORMAT[described["format"]]
    kinds = _kinds(described)
    if "boolean" in kinds:
        return True
    if "integer" in kinds or "number" in kinds:
        return described.get("default", described.get("minimum", 1))
    if "array" in kinds and "$ref" not in described["items"]:
        inner = field_example(described["items"], ...)
        return ... if inner is ... else [inner]
    return ...


def compose(described: Mapping[str, Any], components: Mapping[str, Any], *, only_required: bool = False) -> Any:
    """Return an example of a whole body: with every field, or with those that a request has to send.

    A request without required fields shows its first field.
    """
    if "$ref" in described:
        return compose(components[described["$ref"].removeprefix(_REF)], components, only_required=only_required)
    if "examples" in described:
        return described["examples"][0]
    if "anyOf" in described:
        return compose(described["anyOf"][0], components, only_required=only_required)
    if "array" in _kinds(described):
        return [compose(described["items"], components, only_required=only_required)]
    if "properties" in described:
        names = _example_fields(described, only_required)
        return {
            name: compose(field, components, only_required=only_required)
            for name, field in described["properties"].items()
            if name in names
        }
    if isinstance(described.get("additionalProperties"), dict) and described["additionalProperties"]:
        return {"EUR": compose(described["additionalProperties"], components, only_required=only_required)}
    example = field_example(described, ...)
    return _default_example(described) if example is ... else example


def _default_example(described: Mapping[str, Any]) -> Any:
    kinds = _kinds(described)
    return None if "null" in kinds else "text" if "string" in kinds else {}


def _example_fields(described: Mapping[str, Any], only_required: bool) -> list[str]:
    if not only_required:
        return list(described["properties"])
    return described.get("required") or list(described["properties"])[:1]


def _kinds(described: Mapping[str, Any]) -> list[str]:
    kinds = described.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _fits(described: Mapping[str, Any], value: Any) -> bool:
    if "$ref" in described or "anyOf" in described:
        return False
    if "enum" in described and value not in described["enum"]:
        return False
    kinds = _kinds(described)
    if isinstance(value, bool):
        return not kinds or "boolean" in kinds
    return not kinds or any(isinstance(value, _KINDS[kind]) for kind in kinds)
