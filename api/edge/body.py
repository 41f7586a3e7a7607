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
from domain.refusals import Refused
from schemas.base import Wire

# The largest requests have a thousand rows. Each is one object of up to 16 fields, and callers may add some of theirs.
_MAX_CONTAINERS = 10_000
_MAX_VALUES = 50_000
_MAX_TEXTS = 2 * _MAX_VALUES
_NOT_AN_OBJECT = "The body must be a JSON object in UTF-8 that names each key once."
_TOO_MANY_PARTS = (
    f"The body has more than {_MAX_VALUES:,} values or {_MAX_CONTAINERS:,} objects and lists. Divide it into several."
)


def load(*, code: str | None = None) -> Mapping[str, Any]:
    """Return the request's JSON object as the operation's `takes` loads it.

    Raises ValidationError (problem details) for malformed fields and for what is not a JSON object; the latter is a
    refusal with `code` where the endpoint has one of its own.
    """
    raw = request.get_data(cache=True)
    if has_too_many_parts(raw):
        _check_items(raw)
        sent, message = None, _TOO_MANY_PARTS
    else:
        sent, message = _value(raw), _NOT_AN_OBJECT
    if not isinstance(sent, dict):
        raise Refused(400, code, message) if code else ValidationError({"body": [message]})
    return _loaded(sent)


def _check_items(raw: bytes) -> None:
    """Raise the schema's own refusal of too many items where a body that is not read may have them."""
    takes = operations.current().takes
    refusal = takes.too_many_items(raw.count(b"{") - 1) if isinstance(takes, Wire) else None
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

    Return None for what is not JSON, names a key twice in one object, or has more values, texts, objects or arrays, or
    more levels of them, than any request needs. Costs a few milliseconds per megabyte, whatever the bytes are.
    """
    return None if has_too_many_parts(raw) else _value(raw)


def _value(raw: bytes) -> object:
    try:
        value = orjson.loads(raw)
        return value if orjson.dumps(value).count(b":") == _colons(raw) else None
    except (ValueError, orjson.JSONEncodeError):  # it writes fewer levels than it reads
        return None


def has_too_many_parts(raw: bytes) -> bool:
    """Return whether a JSON text has more parts than are read; each is counted as its separator outside of texts."""
    if not (raw.count(b'"') > 2 * _MAX_TEXTS or _has_too_many_separators(raw)):
        return False
    unescaped = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Texts are counted before they are taken out, which costs something for each.
    return unescaped.count(b'"') > 2 * _MAX_TEXTS or _has_too_many_separators(b"".join(unescaped.split(b'"')[::2]))


def _has_too_many_separators(text: bytes) -> bool:
    return text.count(b"{") + text.count(b"[") > _MAX_CONTAINERS or text.count(b",") > _MAX_VALUES


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
