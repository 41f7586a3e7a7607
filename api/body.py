"""Reads request bodies: JSON or a clear refusal, whatever was sent.

orjson refuses what the standard library lets through (NaN, unpaired surrogates, bottomless nesting); NUL and wrong
types are refused by the schemas.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import request
from marshmallow import Schema, ValidationError

from domain.refused import Refused

_NOT_AN_OBJECT = "The body must be a JSON object in UTF-8."


def load(schema: Schema, *, code: str | None = None) -> Mapping[str, Any]:
    """Return the request's JSON object as `schema` loads it.

    Raises ValidationError (problem details) for malformed fields and for what is not a JSON object; the latter is a
    refusal with `code` where the endpoint has one of its own.
    """
    sent = json_object()
    if sent is None:
        raise Refused(400, code, _NOT_AN_OBJECT) if code else ValidationError({"body": [_NOT_AN_OBJECT]})
    loaded: Mapping[str, Any] = schema.load(sent)
    return loaded


def json_object() -> dict[str, Any] | None:
    """Return the body as a JSON object, or None when it is not one."""
    try:
        sent = orjson.loads(request.get_data(cache=True))
    except orjson.JSONDecodeError:
        return None
    return sent if isinstance(sent, dict) else None


def query(schema: Schema) -> Mapping[str, Any]:
    """Return the query string as `schema` loads it; a parameter that is sent twice counts once, the last."""
    loaded: Mapping[str, Any] = schema.load({name: values[-1] for name, values in request.args.lists()})
    return loaded
