"""Parsing of request bodies and queries: JSON, or a clear refusal for any other bytes.

orjson refuses what the standard library accepts (NaN, unpaired surrogates, endless nesting); the schemas refuse NUL
and wrong types. An object with a duplicate key is refused here: two parsers could read two different amounts.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import request
from marshmallow import ValidationError

from api.edge import operations
from domain.refusals import Refused
from schemas.base import Wire

# The largest requests have a thousand rows, each an object of up to 16 fields, to which callers may add their own.
_MAX_CONTAINERS = 10_000
_MAX_VALUES = 50_000
_MAX_TEXTS = 2 * _MAX_VALUES
_NOT_AN_OBJECT = "The body must be a JSON object in UTF-8 without duplicate keys."
_TOO_MANY_PARTS = (
    f"The body has more than {_MAX_VALUES:,} values or {_MAX_CONTAINERS:,} objects and lists. "
    "Split it into several requests."
)


def load(*, code: str | None = None) -> Mapping[str, Any]:
    """Return the request's JSON object as the operation's `takes` loads it.

    Raises ValidationError (problem details) for malformed fields and for a body that is not a JSON object; for the
    latter Refused with `code`, if the endpoint has a code of its own.
    """
    raw = request.get_data(cache=True)
    if has_too_many_parts(raw):
        _check_items(raw)
        value, message = None, _TOO_MANY_PARTS
    else:
        value, message = _parse_value(raw), _NOT_AN_OBJECT
    if not isinstance(value, dict):
        raise Refused(400, code, message) if code else ValidationError({"body": [message]})
    return _load(value)


def _check_items(raw: bytes) -> None:
    """Raise the schema's own refusal of too many items if an unparsed body may have them."""
    takes = operations.current_operation().takes
    refusal = takes.too_many_items(raw.count(b"{") - 1) if isinstance(takes, Wire) else None
    if refusal is not None:
        raise refusal


def load_optional() -> Mapping[str, Any]:
    """Like `load`, but a missing body counts as an empty object."""
    return load() if request.get_data(cache=True).strip() else _load({})


def load_list(name: str) -> list[Any]:
    """Return the list `name` of the request's object as the operation's `takes` loads it; a bare array is that list.

    Raises ValidationError (problem details) for malformed items, by position, and for a body that is neither.
    """
    value = _parse_request()
    if isinstance(value, list):
        value = {name: value}
    if not isinstance(value, dict):
        raise ValidationError({"body": ["The body must be a JSON array or object in UTF-8 without duplicate keys."]})
    loaded: list[Any] = _load(value)[name]
    return loaded


def _load(values: Mapping[str, Any]) -> Mapping[str, Any]:
    takes = operations.current_operation().takes
    assert takes is not None  # an operation that reads a body declares what it takes
    loaded: Mapping[str, Any] = takes.load(values)
    return loaded


def json_object() -> dict[str, Any] | None:
    """Return the body as a JSON object, or None if it is not one."""
    value = _parse_request()
    return value if isinstance(value, dict) else None


def _parse_request() -> object:
    return parse(request.get_data(cache=True))


def parse(raw: bytes) -> object:
    """Return the value of a JSON text.

    Return None for a text that is not JSON, has a duplicate key in an object, or has more values, texts, objects,
    arrays or levels than any request needs. Costs a few milliseconds per megabyte for any bytes.
    """
    return None if has_too_many_parts(raw) else _parse_value(raw)


def _parse_value(raw: bytes) -> object:
    try:
        value = orjson.loads(raw)
        return value if orjson.dumps(value).count(b":") == _colons(raw) else None
    except (ValueError, orjson.JSONEncodeError):  # orjson writes fewer levels than it reads
        return None


def has_too_many_parts(raw: bytes) -> bool:
    """Return whether a JSON text has more parts than are parsed, counting their separators outside of texts."""
    if not (raw.count(b'"') > 2 * _MAX_TEXTS or _has_too_many_separators(raw)):
        return False
    unescaped = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Texts are counted before they are removed, because removing costs something for each.
    return unescaped.count(b'"') > 2 * _MAX_TEXTS or _has_too_many_separators(b"".join(unescaped.split(b'"')[::2]))


def _has_too_many_separators(text: bytes) -> bool:
    return text.count(b"{") + text.count(b"[") > _MAX_CONTAINERS or text.count(b",") > _MAX_VALUES


def _colons(raw: bytes) -> int:
    """Return how many colons a JSON text has when its texts are decoded.

    Each key has a colon. Of a duplicate key only the last value is parsed, so fewer colons are parsed than sent.
    """
    escaped = raw.replace(b"\\\\", b"").lower().count(b"\\u003a") if b"\\u003" in raw else 0
    return raw.count(b":") + escaped


def query() -> Mapping[str, Any]:
    """Return the query string as the operation's `asks` loads it; of a repeated parameter the last value counts."""
    asks = operations.current_operation().asks
    assert asks is not None  # an operation that reads the query declares what it asks
    loaded: Mapping[str, Any] = asks.load({name: values[-1] for name, values in request.args.lists()})
    return loaded
