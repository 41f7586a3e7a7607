"""The arguments of a tool call, each placed where the operation expects it.

Arguments of the path and the query are validated here, because there everything is a text; bodies are passed on
unchanged, and the operation validates them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from api.mcp.tools.binding import CONFIRM_TOKEN, DEFAULT_ROWS, MAX_ROWS, BoundTool
from domain.refusals import Refused

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TYPES: Mapping[str, type] = {"string": str, "boolean": bool, "integer": int}


@dataclass(frozen=True, slots=True)
class PlacedArguments:
    """A call's arguments by place: path, query (texts), body (JSON, may be empty)."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes

    @property
    def encoded_query(self) -> str:
        """Return the query string."""
        return urlencode(self.query)


def place_arguments(bound: BoundTool, arguments: Mapping[str, Any]) -> PlacedArguments:
    """Return the arguments by place. Raises Refused (400) for an unknown argument or one of another type."""
    for name in arguments:
        if name not in bound.properties:
            raise Refused(400, "unknown_argument", f"The tool {bound.tool.name} has no argument {name}.", field=name)
    missing = next((name for name in bound.path if name not in arguments), None)
    if missing is not None:
        raise _invalid_argument(missing, "It is required.")
    if not isinstance(arguments.get(CONFIRM_TOKEN, ""), str):
        raise _invalid_argument(CONFIRM_TOKEN, "It must be a string.")
    path = {name: _check_id(own, arguments[own]) for own, name in bound.path.items()}
    in_query = {own: arguments[own] for own in bound.query if own in arguments}
    if bound.rows is not None:
        in_query[bound.rows] = _check_row_count(bound.rows, in_query.get(bound.rows, DEFAULT_ROWS))
    query = {name: _text(value) for name, value in bound.tool.preset.items()}
    query |= {bound.query[own]: _query_value(own, value, bound.properties[own]) for own, value in in_query.items()}
    body = {name: arguments[own] for own, name in bound.body.items() if own in arguments}
    return PlacedArguments(path, query, canonical_json(body) if bound.body else b"")


def canonical_json(value: Mapping[str, Any]) -> bytes:
    """Return an object as JSON with sorted keys: equal objects give equal bytes. Raises Refused (400)."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:  # orjson writes fewer levels than it reads
        raise Refused(400, "invalid_request", "The arguments are nested too deeply.") from error


def halve_rows(bound: BoundTool, call: PlacedArguments) -> PlacedArguments | None:
    """Return the same call for half as many rows; None when it cannot return fewer."""
    if bound.rows != "take" or "cursor" not in bound.query:
        return None
    rows = int(call.query["take"])
    return PlacedArguments(call.path, {**call.query, "take": str(rows // 2)}, call.body) if rows > 1 else None


def _check_row_count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _invalid_argument(name, "It must be a whole number of at least 1.")
    return min(value, MAX_ROWS)


def _check_id(name: str, value: Any) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise _invalid_argument(name, "It must be an id (UUID).")
    return value


def _query_value(name: str, value: Any, described: Mapping[str, Any]) -> str:
    kind = described.get("type", "string")
    expected = _TYPES.get(kind if isinstance(kind, str) else kind[0], str)
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        raise _invalid_argument(name, f"It must be of the type {kind}.")
    return _text(value)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _invalid_argument(name: str, message: str) -> Refused:
    return Refused(400, "invalid_request", f"{name}: {message}", field=name)
