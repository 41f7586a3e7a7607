"""Fast loading of well-formed objects by a plan built once per schema; marshmallow reports the faults of others.

A plan returns the same as the schema's `load`, or None. Unknown kinds of fields use their own `deserialize`.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, missing
from marshmallow.decorators import POST_LOAD

from schemas.collection_fields import Items

Reader = Callable[[Any, str, Mapping[str, Any]], Any]


class ReadingPlan:
    """The plan of one schema: key, attribute and reader of each field, and the hooks after loading."""

    def __init__(self, schema: Schema) -> None:
        self._is_usable = _only_reads_fields(schema)
        self._steps = [
            (field.data_key or name, field.attribute or name, _reader(field))
            for name, field in schema.load_fields.items()
        ]
        self._hooks = [
            functools.partial(getattr(schema, name), many=False, partial=schema.partial, unknown=schema.unknown)
            for name, _, _ in schema._hooks[POST_LOAD]
        ]

    def read(self, data: object) -> dict[str, Any] | None:
        """Return the object as the schema loads it; None if it is malformed or the schema needs the full `load`."""
        if not self._is_usable or type(data) is not dict:
            return None
        loaded = {}
        try:
            for key, name, reader in self._steps:
                value = reader(data.get(key, missing), key, data)
                if value is not missing:
                    loaded[name] = value
            for hook in self._hooks:
                loaded = hook(loaded)
        except ValidationError:
            return None
        return loaded


def _only_reads_fields(schema: Schema) -> bool:
    has_paths = any("." in (field.attribute or "") for field in schema.load_fields.values())
    hooks = any(hooks for tag, hooks in schema._hooks.items() if tag != POST_LOAD) or any(
        takes_many or options.get("pass_original") for _, takes_many, options in schema._hooks[POST_LOAD]
    )
    return schema.unknown == EXCLUDE and not (schema.many or schema.partial or has_paths or hooks)


def _reader(field: fields.Field[Any]) -> Reader:
    if isinstance(field, Items):
        return field.deserialize_until_error
    if type(field) is not fields.String or field.pre_load or field.post_load:
        return field.deserialize
    checks, deserialize, takes_null = field.validators, field.deserialize, field.allow_none
    default = field.load_default
    has_default = not field.required and not callable(default)

    def read(value: Any, key: str, data: Mapping[str, Any]) -> Any:
        if type(value) is str:
            for check in checks:
                check(value)
            return value
        if value is None and takes_null:
            return None
        return default if value is missing and has_default else deserialize(value, key, data)

    return read
