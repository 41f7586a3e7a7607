"""Reads request bodies: for any bytes, JSON or a clear refusal.

orjson refuses what the standard library lets through (NaN, unpaired surrogates, bottomless nesting); NUL and wrong
types are refused by the schemas. A key that stands twice in one object is refused here: two readers of such a body
may see two different amounts.
"""

import json
from collections.abc import Mapping
from typing import Any

import orjson
from flask import request
from marshmallow import ValidationError

from api.edge import operations
from domain.refused import Refused

_NOT_AN_OBJECT = "The body must be a JSON object in UTF-8 that names each key once."


def load(*, code: str | None = None) -> Mapping[str, Any]:
    """Return the request's JSON object as the operation's `takes` loads it.

    Raises ValidationError (problem details) for malformed fields and for what is not a JSON object; the latter is a
    refusal with `code` where the endpoint has one of its own.
    """
    sent = json_object()
    if sent is None:
        raise Refused(400, code, _NOT_AN_OBJECT) if code else ValidationError({"body": [_NOT_AN_OBJECT]})
    return _loaded(sent)


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
    """Return what a JSON text says; None when it is not JSON, and when it names a key twice."""
    try:
        sent = orjson.loads(raw)
        if not _is_read_whole(raw, sent):
            json.loads(raw, object_pairs_hook=_named_once)
    except (ValueError, RecursionError):  # nested more deeply than anybody means
        return None
    return sent


def _is_read_whole(raw: bytes, sent: object) -> bool:
    # Every key brings a colon, and without escapes texts keep theirs: a key that was read over takes its colon along.
    try:
        return b"\\" not in raw and orjson.dumps(sent).count(b":") == raw.count(b":")
    except orjson.JSONEncodeError:  # it writes fewer levels than it reads
        return False


def _named_once(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError


def query() -> Mapping[str, Any]:
    """Return the query string as the operation's `asks` loads it; of a parameter that is sent twice the last counts."""
    asks = operations.current().asks
    assert asks is not None  # an operation that reads the query declares what it asks
    loaded: Mapping[str, Any] = asks.load({name: values[-1] for name, values in request.args.lists()})
    return loaded
