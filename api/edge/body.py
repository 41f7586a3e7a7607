"""Reads request bodies: for any bytes, JSON or a clear refusal.

orjson refuses what the standard library lets through (NaN, unpaired surrogates, bottomless nesting); NUL and wrong
types are refused by the schemas. A key that stands twice in one object is refused here: two readers of such a body
may see two different amounts.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import request
from marshmallow import ValidationError

from api.edge import operations
from domain.refused import Refused
from schemas.base import Wire

# The largest requests have a thousand rows, and each row is one object.
_MAX_CONTAINERS = 10_000
_NOT_AN_OBJECT = "The body must be a JSON object in UTF-8 that names each key once."


def load(*, code: str | None = None) -> Mapping[str, Any]:
    """Return the request's JSON object as the operation's `takes` loads it.

    Raises ValidationError (problem details) for malformed fields and for what is not a JSON object; the latter is a
    refusal with `code` where the endpoint has one of its own.
    """
    sent = json_object()
    if sent is None:
        _check_items(request.get_data(cache=True))
        raise Refused(400, code, _NOT_AN_OBJECT) if code else ValidationError({"body": [_NOT_AN_OBJECT]})
    return _loaded(sent)


def _check_items(raw: bytes) -> None:
    takes = operations.current().takes
    refusal = takes.too_many_items() if isinstance(takes, Wire) and _has_too_many_containers(raw) else None
    if refusal is not None:
        raise refusal


def load_optional() -> Mapping[str, Any]:
    """Like `load`; no body at all counts as an empty object."""
    return load() if request.get_data(cache=True).strip() else _loaded({})


def load_list(name: str) -> list[Any]:
    """Return the list `name` of the request's object as the operation's `takes` loads it; a bare array stands for it.

    Raises ValidationError (problem details) for malformed items, by position, and for what is neither.
    """
    sent = _parsed()
    if isinstance(sent, list):
        sent = {name: sent}
    if not isinstance(sent, dict):
        raise ValidationError({"body": ["The body must be a JSON array or object in UTF-8 that names each key once."]})
    loaded: list[Any] = _loaded(sent)[name]
    return loaded


def _loaded(sent: Mapping[str, Any]) -> Mapping[str, Any]:
    takes = operations.current().takes
    assert takes is not None  # an operation that reads a body declares what it takes
    loaded: Mapping[str, Any] = takes.load(sent)
    return loaded


def json_object() -> dict[str, Any] | None:
    """Return the body as a JSON object, or None when it is not one."""
    sent = _parsed()
    return sent if isinstance(sent, dict) else None


def _parsed() -> object:
    return parsed(request.get_data(cache=True))


def parsed(raw: bytes) -> object:
    """Return the value of a JSON text.

    Return None for what is not JSON, names a key twice in one object, or has more objects and arrays, or more levels of
    them, than any request needs. Costs a few milliseconds per megabyte, whatever the bytes are.
    """
    if _has_too_many_containers(raw):
        return None
    try:
        value = orjson.loads(raw)
        return value if orjson.dumps(value).count(b":") == _colons(raw) else None
    except (ValueError, orjson.JSONEncodeError):  # it writes fewer levels than it reads
        return None


def _has_too_many_containers(raw: bytes) -> bool:
    if raw.count(b"{") + raw.count(b"[") <= _MAX_CONTAINERS:
        return False
    outside_of_texts = b"".join(raw.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    return outside_of_texts.count(b"{") + outside_of_texts.count(b"[") > _MAX_CONTAINERS


def _colons(raw: bytes) -> int:
    """Return how many colons a JSON text has when its texts are decoded.

    Each key has a colon. Where a key comes twice, only its last value is read, so that fewer colons are read than sent.
    """
    escaped = raw.replace(b"\\\\", b"").lower().count(b"\\u003a") if b"\\u003" in raw else 0
    return raw.count(b":") + escaped


def query() -> Mapping[str, Any]:
    """Return the query string as the operation's `asks` loads it; of a parameter that is sent twice the last counts."""
    asks = operations.current().asks
    assert asks is not None  # an operation that reads the query declares what it asks
    loaded: Mapping[str, Any] = asks.load({name: values[-1] for name, values in request.args.lists()})
    return loaded
