"""Secrets that work for any holder (`schemas.base.bearer_secret`) are removed from the answers to agents.

The result of a tool reaches a model and the host of that model. A signed link, an invite link or a token in it would
work for everyone who reads it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from marshmallow import Schema, fields

from api.edge.operations import SuccessBody

#: By the path of a field (its keys; lists on the way have none), where a person can find its value, as a sentence.
WithheldFields = Mapping[tuple[str, ...], str]


def find_withheld_fields(gives: SuccessBody) -> WithheldFields:
    """Return the fields of an answer that are secrets for any holder."""
    if gives.schema is None:
        return {}
    is_list = gives.shape in ("page", "array")
    return dict(_find_secrets(gives.schema, ("items",) if is_list else (), ()))


def remove_withheld_fields(withheld: WithheldFields, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data of an answer without these fields; its `withheld` tells where a person finds each."""
    remaining: Any = data
    notes = {}
    for path, found_at in withheld.items():
        remaining, is_changed = _remove_field(remaining, path)
        if is_changed:
            notes[".".join(path)] = found_at
    return {**remaining, "withheld": notes} if notes else data


def _find_secrets(
    schema: Schema, path: tuple[str, ...], above: tuple[type, ...]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, field in schema.dump_fields.items():
        here = (*path, field.data_key or name)
        inner = _element(field)
        if "found_at" in inner.metadata:
            yield here, inner.metadata["found_at"]
        if isinstance(inner, fields.Nested) and type(inner.schema) not in above:
            yield from _find_secrets(inner.schema, here, (*above, type(inner.schema)))


def _element(field: Any) -> fields.Field[Any]:
    """Return the element of a list, or the field itself. Raises TypeError for a map whose records hold a secret."""
    if isinstance(field, fields.List):
        return _element(field.inner)
    values = field.value_field if isinstance(field, fields.Dict) else None
    if isinstance(values, fields.Nested) and any(_find_secrets(values.schema, (), ())):
        raise TypeError(f"{field.name}: a map of records cannot hold a secret")
    element: fields.Field[Any] = field
    return element


def _remove_field(data: Any, path: tuple[str, ...]) -> tuple[Any, bool]:
    """Return data without the field at a path, and whether it was there."""
    if isinstance(data, list):
        rows = [_remove_field(row, path) for row in data]
        return [row for row, _ in rows], any(is_changed for _, is_changed in rows)
    name, *rest = path
    if not isinstance(data, dict) or data.get(name) is None:
        return data, False
    if not rest:
        return {key: value for key, value in data.items() if key != name}, True
    inner, is_changed = _remove_field(data[name], tuple(rest))
    return {**data, name: inner}, is_changed
