"""What a call sends to an operation: its arguments, each where the operation wants it.

What stands in an address or a query is looked at here, because there everything is a text; bodies go on as they are,
and the operation says what is wrong with them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from api.mcp.tools.binding import CONFIRM_TOKEN, DEFAULT_ROWS, MOST_ROWS, BoundTool
from domain.refusals import Refused

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TYPES: Mapping[str, type] = {"string": str, "boolean": bool, "integer": int}


@dataclass(frozen=True, slots=True)
class SentArguments:
    """A call's arguments by place: the names in the address, the query (texts), the body (JSON, empty if none)."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes

    @property
    def encoded_query(self) -> str:
        """The query string."""
        return urlencode(self.query)


def placed(bound: BoundTool, arguments: Mapping[str, Any]) -> SentArguments:
    """Return where each argument goes. Raises Refused (400) for one that the tool does not take, or of another type."""
    for name in arguments:
        if name not in bound.properties:
            raise Refused(400, "unknown_argument", f"The tool {bound.tool.name} takes no {name}.", field=name)
    missing = next((name for name in bound.path if name not in arguments), None)
    if missing is not None:
        raise _malformed(missing, "It is missing.")
    if not isinstance(arguments.get(CONFIRM_TOKEN, ""), str):
        raise _malformed(CONFIRM_TOKEN, "It must be a text.")
    path = {name: _id(own, arguments[own]) for own, name in bound.path.items()}
    asked = {own: arguments[own] for own in bound.query if own in arguments}
    if bound.rows is not None:
        asked[bound.rows] = _rows(bound.rows, asked.get(bound.rows, DEFAULT_ROWS))
    query = {name: _text(value) for name, value in bound.tool.preset.items()}
    query |= {bound.query[own]: _checked(own, value, bound.properties[own]) for own, value in asked.items()}
    body = {name: arguments[own] for own, name in bound.body.items() if own in arguments}
    return SentArguments(path, query, encoded(body) if bound.body else b"")


def encoded(found: Mapping[str, Any]) -> bytes:
    """Return an object as JSON with its names in order: one text for all ways to write it. Raises Refused (400)."""
    try:
        return orjson.dumps(found, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:  # it writes fewer levels than it reads
        raise Refused(400, "invalid_request", "The arguments are nested too deeply.") from error


def fewer_rows(bound: BoundTool, sent: SentArguments) -> SentArguments | None:
    """Return the same call for half as many rows; None where it cannot be asked for fewer."""
    if bound.rows != "take" or "cursor" not in bound.query:
        return None
    rows = int(sent.query["take"])
    return SentArguments(sent.path, {**sent.query, "take": str(rows // 2)}, sent.body) if rows > 1 else None


def _rows(name: str, sent: Any) -> int:
    if isinstance(sent, bool) or not isinstance(sent, int) or sent < 1:
        raise _malformed(name, "It must be a whole number from 1 on.")
    return min(sent, MOST_ROWS)


def _id(name: str, sent: Any) -> str:
    if not isinstance(sent, str) or not _ID.fullmatch(sent):
        raise _malformed(name, "It must be an id (UUID).")
    return sent


def _checked(name: str, sent: Any, described: Mapping[str, Any]) -> str:
    kind = described.get("type", "string")
    wanted = _TYPES.get(kind if isinstance(kind, str) else kind[0], str)
    if not isinstance(sent, wanted) or (isinstance(sent, bool) and wanted is not bool):
        raise _malformed(name, f"It must be of the type {kind}.")
    return _text(sent)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _malformed(name: str, message: str) -> Refused:
    return Refused(400, "invalid_request", f"{name}: {message}", field=name)
