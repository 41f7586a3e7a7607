"""Bodies that cost a careless reader much: made from what a schema takes, as long as a route lets them be."""

import json
from collections.abc import Iterator
from typing import Any

from marshmallow import Schema, fields

from schemas.collection_fields import Entries, Items

_DEPTH = 200


def hostile_bodies(schema: Schema, example: dict[str, Any], size: int) -> Iterator[tuple[str, bytes]]:
    """Yield bodies of up to `size` bytes by the name of what is wrong with them; `example` is an ordinary body."""
    yield from _of_any_schema(example, size)
    count = max(1, len(schema.load_fields))
    share = size // count - 100
    for kind, value in _values(share).items():
        yield f"each field: {kind}", _encoded(_filled(schema, value))
    for path, field in counted_fields(schema):
        for kind, item in (("null", None), ("number", 7), ("object", {}), ("text", "")):
            yield f"{'.'.join(path)}: too many items ({kind})", _at(example, path, _long(field, item, size))
            yield (
                f"{'.'.join(path)}: all items ({kind})",
                _at(example, path, _long(field, item, size, at_most=field.most)),
            )


def counted_fields(schema: Schema, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the lists and the objects of free keys that a schema loads, outside of other lists, by their place."""
    for name, field in schema.load_fields.items():
        place = (*path, field.data_key or name)
        if isinstance(field, Items | Entries):
            yield place, field
        elif isinstance(field, fields.Nested):
            yield from counted_fields(field.schema, place)


def _of_any_schema(example: dict[str, Any], size: int) -> Iterator[tuple[str, bytes]]:
    more = json.dumps(example)[:-1] + (", " if example else "")
    twice = ['"a": 0'] * (size // 9)
    colons = "\\u003a" * (size // 6 - 100)
    brackets = size // 2 - 100
    yield "unknown keys", _encoded(example | {f"k{number}": 1 for number in range(size // 13)})
    yield "long unknown keys", _encoded(example | {"k" * (size // 2): 1})
    yield "one key many times", f"{more}{', '.join(twice)}}}".encode()
    yield "escaped colons", f'{more}"a": "{colons}"}}'.encode()
    for kind, item in (("objects", "{}"), ("lists", "[]"), ("one-key objects", '{"":0}')):
        repeated = ",".join([item] * (size // (len(item) + 1) - 100))
        yield f"unknown {kind}", f'{more}"a": [{repeated}]}}'.encode()
    yield "nested deeply", f'{more}"a": {"[" * brackets}{"]" * brackets}}}'.encode()
    nests = ",".join(["[" * _DEPTH + "]" * _DEPTH] * (size // (2 * _DEPTH + 1)))
    yield "nested often", f'{more}"a": [{nests}]}}'.encode()


def _values(size: int) -> dict[str, Any]:
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


def _filled(schema: Schema, value: Any) -> dict[str, Any]:
    return {
        field.data_key or name: _filled(field.schema, _cut(value, len(field.schema.load_fields)))
        if isinstance(field, fields.Nested)
        else value
        for name, field in schema.load_fields.items()
    }


def _cut(value: Any, parts: int) -> Any:
    if isinstance(value, dict):
        return dict(list(value.items())[: len(value) // parts])
    return value[: len(value) // parts] if len(value) > parts else value


def _long(field: Any, item: Any, size: int, *, at_most: int | None = None) -> Any:
    count = size // (len(json.dumps(item)) + (2 if isinstance(field, Items) else 13)) - 50
    count = count if at_most is None else min(count, at_most)
    return [item] * count if isinstance(field, Items) else {f"k{number}": item for number in range(count)}


def _at(example: dict[str, Any], path: tuple[str, ...], value: Any) -> bytes:
    """Return the example with another value in one place."""
    body = dict(example)
    place = body
    for name in path[:-1]:
        place[name] = dict(place.get(name) or {})
        place = place[name]
    place[path[-1]] = value
    return _encoded(body)


def _encoded(body: Any) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
