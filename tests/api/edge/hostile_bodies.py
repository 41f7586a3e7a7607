"""Bodies that are expensive for a careless reader: made from a schema, as long as its route allows."""

import json
from collections.abc import Iterator
from typing import Any

from marshmallow import Schema, fields

from schemas.collection_fields import Entries, Items

_DEPTH = 200


def build_hostile_bodies(schema: Schema, example: dict[str, Any], size: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name of a fault and a body with it, of up to `size` bytes; `example` is an ordinary body."""
    yield from _build_schema_independent_bodies(example, size)
    count = max(1, len(schema.load_fields))
    share = size // count - 100
    for kind, value in _build_hostile_values(share).items():
        yield f"each field: {kind}", _encode(_fill_fields(schema, value))
    for path, field in list_counted_fields(schema):
        for kind, item in (("null", None), ("number", 7), ("object", {}), ("text", "")):
            yield (
                f"{'.'.join(path)}: too many items ({kind})",
                _replace_at(example, path, _build_long_collection(field, item, size)),
            )
            yield (
                f"{'.'.join(path)}: all items ({kind})",
                _replace_at(example, path, _build_long_collection(field, item, size, max_count=field.most)),
            )


def list_counted_fields(schema: Schema, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield path and field of each list and each object with free keys that a schema loads, outside other lists."""
    for name, field in schema.load_fields.items():
        field_path = (*path, field.data_key or name)
        if isinstance(field, Items | Entries):
            yield field_path, field
        elif isinstance(field, fields.Nested):
            yield from list_counted_fields(field.schema, field_path)


def _build_schema_independent_bodies(example: dict[str, Any], size: int) -> Iterator[tuple[str, bytes]]:
    prefix = json.dumps(example)[:-1] + (", " if example else "")
    duplicates = ['"a": 0'] * (size // 9)
    colons = "\\u003a" * (size // 6 - 100)
    brackets = size // 2 - 100
    yield "unknown keys", _encode(example | {f"k{number}": 1 for number in range(size // 13)})
    yield "long unknown keys", _encode(example | {"k" * (size // 2): 1})
    yield "one key many times", f"{prefix}{', '.join(duplicates)}}}".encode()
    yield "escaped colons", f'{prefix}"a": "{colons}"}}'.encode()
    for kind, item in (("objects", "{}"), ("lists", "[]"), ("one-key objects", '{"":0}')):
        repeated = ",".join([item] * (size // (len(item) + 1) - 100))
        yield f"unknown {kind}", f'{prefix}"a": [{repeated}]}}'.encode()
    yield "nested deeply", f'{prefix}"a": {"[" * brackets}{"]" * brackets}}}'.encode()
    nests = ",".join(["[" * _DEPTH + "]" * _DEPTH] * (size // (2 * _DEPTH + 1)))
    yield "nested often", f'{prefix}"a": [{nests}]}}'.encode()


def _build_hostile_values(size: int) -> dict[str, Any]:
    nested: Any = []
    for _ in range(_DEPTH):
        nested = [nested]
    return {
        "long text": "x" * size,
        "column names": ("email," * (size // 6))[:-1],
        "lines": "a@b.co,\n" * (size // 9),
        "quotes": '"' * (size // 2),
        "markup": "<a>&" * (size // 4),
        "digits": "9" * size,
        "nulls": [None] * (size // 6),
        "numbers": [0] * (size // 3),
        "nested": nested,
        "keys": {f"k{number}": 1 for number in range(size // 13)},
    }


def _fill_fields(schema: Schema, value: Any) -> dict[str, Any]:
    return {
        field.data_key or name: _fill_fields(field.schema, _shorten(value, len(field.schema.load_fields)))
        if isinstance(field, fields.Nested)
        else value
        for name, field in schema.load_fields.items()
    }


def _shorten(value: Any, parts: int) -> Any:
    if isinstance(value, dict):
        return dict(list(value.items())[: len(value) // parts])
    return value[: len(value) // parts] if len(value) > parts else value


def _build_long_collection(field: Any, item: Any, size: int, *, max_count: int | None = None) -> Any:
    count = size // (len(json.dumps(item)) + (2 if isinstance(field, Items) else 13)) - 50
    count = count if max_count is None else min(count, max_count)
    return [item] * count if isinstance(field, Items) else {f"k{number}": item for number in range(count)}


def _replace_at(example: dict[str, Any], path: tuple[str, ...], value: Any) -> bytes:
    """Return the example with another value in one place."""
    body = dict(example)
    parent = body
    for name in path[:-1]:
        parent[name] = dict(parent.get(name) or {})
        parent = parent[name]
    parent[path[-1]] = value
    return _encode(body)


def _encode(body: Any) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
