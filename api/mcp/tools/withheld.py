"""Fields that open something for any holder (`schemas.base.bearer_secret`) are removed from what agents receive.

The result of a tool reaches a model and the host of that model. A signed link, an invite link or a token in it would
open something for everyone who reads along.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from marshmallow import Schema, fields

from api.edge.operations import SuccessBody

#: By the path of a field (its keys; lists on the way have none), the sentence that says where a person finds it.
WithheldFields = Mapping[tuple[str, ...], str]


def fields_of(gives: SuccessBody) -> WithheldFields:
    """Return the fields of an answer that open something for any holder."""
    if gives.schema is None:
        return {}
    is_list = gives.shape in ("page", "array")
    return dict(_secrets(gives.schema, ("items",) if is_list else (), ()))


def removed(withheld: WithheldFields, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data of an answer without these fields; `withheld` in it says where a person finds each."""
    left: Any = data
    notes = {}
    for path, found_at in withheld.items():
        left, is_changed = _without(left, path)
        if is_changed:
            notes[".".join(path)] = found_at
    return {**left, "withheld": notes} if notes else data


def _secrets(schema: Schema, path: tuple[str, ...], above: tuple[type, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, field in schema.dump_fields.items():
        here = (*path, field.data_key or name)
        inner = _element(field)
        if "found_at" in inner.metadata:
            yield here, inner.metadata["found_at"]
        if isinstance(inner, fields.Nested) and type(inner.schema) not in above:
            yield from _secrets(inner.schema, here, (*above, type(inner.schema)))


def _element(field: Any) -> fields.Field[Any]:
    """Return the element of a list, or the field itself. Raises TypeError for a map whose records hold a secret."""
    if isinstance(field, fields.List):
        return _element(field.inner)
    values = field.value_field if isinstance(field, fields.Dict) else None
    if isinstance(values, fields.Nested) and any(_secrets(values.schema, (), ())):
        raise TypeError(f"{field.name}: a map of records cannot hold a secret")
    element: fields.Field[Any] = field
    return element


def _without(data: Any, path: tuple[str, ...]) -> tuple[Any, bool]:
    """Return data without the field at a path, and whether it was there."""
    if isinstance(data, list):
        rows = [_without(row, path) for row in data]
        return [row for row, _ in rows], any(is_changed for _, is_changed in rows)
    name, *rest = path
    if not isinstance(data, dict) or data.get(name) is None:
        return data, False
    if not rest:
        return {key: value for key, value in data.items() if key != name}, True
    inner, is_changed = _without(data[name], tuple(rest))
    return {**data, name: inner}, is_changed
