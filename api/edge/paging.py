"""Pages of a list: `{items, nextCursor, hasMore}`, and the cursors between them.

A cursor is the position of the last row that was shown, signed for one caller and one list: a cursor that
was changed, or brought to another list, is refused. Rows that come and go between two pages move nothing.
Source: core spec, section 4 (cursor-paginated) and section 8 "Limits".
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import orjson
from flask import request
from marshmallow import ValidationError

from adapters import derived_keys
from api.access import guards
from models.listing import RenderedPage

#: Rows of a page when nobody asks for more or fewer, and at most.
DEFAULT_TAKE = 50
MOST_TAKE = 200

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_BYTES = 8
_ID_BYTES = 16
# With the position it makes 42 bytes: a multiple of three, so that every bit of the text counts.
_SEAL_BYTES = 18
_USE = "cursor"

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which page: `take` rows after a position. Lists read `limit` rows, one more, to know whether there are more.

    `order` names the order of the list, where it has several: a cursor of one is none of another.
    """

    take: int
    after: tuple[datetime, UUID] | None
    order: str = ""

    @property
    def limit(self) -> int:
        """How many rows to read."""
        return self.take + 1


def wanted(query: Mapping[str, Any], *, default: int = DEFAULT_TAKE, most: int = MOST_TAKE, order: str = "") -> Wanted:
    """Return which page `query` (a loaded schemas.paging.PageQuery) asks for; more than `most` rows are `most`.

    Raises ValidationError (problem details) for a cursor that this list did not give out in this order.
    """
    return Wanted(take=min(query["take"] or default, most), after=position(query["cursor"], order), order=order)


def envelope(
    page: Wanted, rows: Sequence[Row], render: Callable[[Sequence[Row]], list[Any]], *, moment: str = "created_at"
) -> dict[str, Any]:
    """Return the answer for the `page.limit` rows that were read. Rows have `id` (or its text) and a `moment`."""
    shown, has_more = rows[: page.take], len(rows) > page.take
    next_cursor = _cursor_of(shown[-1], moment, page.order) if has_more else None
    return {"items": render(shown), "nextCursor": next_cursor, "hasMore": has_more}


def together(page: Wanted, rendered: RenderedPage) -> dict[str, Any]:
    """Return the answer for a page of `page.take` rows that the database made one text of; each of them has JSON."""
    last_id, last_at = rendered.last_id, rendered.last_at
    next_cursor = cursor(last_at, UUID(last_id), page.order) if last_at and last_id else None
    items = orjson.Fragment(f"[{rendered.documents}]")
    return {"items": items, "nextCursor": next_cursor, "hasMore": next_cursor is not None}


def _cursor_of(row: Any, moment: str, order: str) -> str:
    return cursor(getattr(row, moment), UUID(str(row.id)), order)


def cursor(at: datetime, id: UUID, order: str = "") -> str:
    """Return the cursor of a position in an order, for this caller and this path."""
    microseconds = (at - _EPOCH) // timedelta(microseconds=1)
    position = microseconds.to_bytes(_TIME_BYTES, "big", signed=True) + id.bytes
    return base64.urlsafe_b64encode(position + _seal(derived_keys.current_key(_USE), position, order)).decode()


def position(cursor: str | None, order: str = "") -> tuple[datetime, UUID] | None:
    """Return the position of a cursor, None without one. Raises ValidationError when it was not given out here."""
    return _position(cursor, order) if cursor else None


def _position(cursor: str, order: str) -> tuple[datetime, UUID]:
    try:
        sealed = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise _not_ours() from error
    position, seal = sealed[:-_SEAL_BYTES], sealed[-_SEAL_BYTES:]
    is_ours = any(hmac.compare_digest(seal, _seal(key, position, order)) for key in derived_keys.accepted_keys(_USE))
    if len(position) != _TIME_BYTES + _ID_BYTES or not is_ours:
        raise _not_ours()
    microseconds = int.from_bytes(position[:_TIME_BYTES], "big", signed=True)
    return _EPOCH + timedelta(microseconds=microseconds), UUID(bytes=position[_TIME_BYTES:])


def _seal(key: bytes, position: bytes, order: str) -> bytes:
    message = guards.caller_name().encode() + position + request.path.encode() + order.encode()
    # Unlike an HMAC it keeps the interpreter's lock, which a busy process would have to wait to get back.
    return hashlib.blake2b(message, key=key, digest_size=_SEAL_BYTES).digest()


def _not_ours() -> ValidationError:
    return ValidationError({"cursor": ["This list gave out no such cursor."]})
