"""Pages of a list: `{items, nextCursor, hasMore}`, and their cursors.

A cursor is the position of the last row of a page, signed for one caller and one list: a changed cursor, or one of
another list, is refused. Rows that are added or deleted between two pages do not shift the next one.
Source: core spec, section 4 (cursor-paginated) and section 8 "Limits".
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict, TypeVar
from uuid import UUID

import orjson
from flask import request
from marshmallow import ValidationError

from adapters.secret_key import derived_keys
from api.access import guards
from models.listing import RenderedPage

#: The default and the maximum number of rows of a page.
DEFAULT_TAKE = 50
MAX_TAKE = 200

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_BYTES = 8
_ID_BYTES = 16
# With the position this is 42 bytes, a multiple of three, so that every bit of the base64 text counts.
_SEAL_BYTES = 18
_USE = "cursor"
# The order that the seal of a cursor of texts names: it is invalid where one of a time is expected.
_BY_KEY = "by key"

Row = TypeVar("Row")


class RowWindow(TypedDict):
    """The rows to read for a page: up to `limit` after a position, one more than are shown, to know if more follow."""

    after: tuple[datetime, UUID] | None
    limit: int


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A requested page: `take` rows after a position. Lists read its `window`.

    `after` is (time, id), or (number, id) if the list is in the order of a number. `order` names the order of the list
    if it has several: a cursor of one order is invalid in another.
    """

    take: int
    after: Any
    order: str = ""

    @property
    def window(self) -> RowWindow:
        """The rows to read."""
        return {"after": self.after, "limit": self.take + 1}


def read_page_request(
    query: Mapping[str, Any],
    *,
    default_take: int = DEFAULT_TAKE,
    max_take: int = MAX_TAKE,
    order: str = "",
    is_by_number: bool = False,
) -> PageRequest:
    """Return the page that `query` (a loaded schemas.paging.PageQuery) requests, of at most `max_take` rows.

    Raises ValidationError (problem details) for a cursor that is not of this list and order.
    """
    return PageRequest(
        take=min(query["take"] or default_take, max_take),
        after=position_from_cursor(query["cursor"], order) if not is_by_number else _number_position(query, order),
        order=order,
    )


def serialize_page(
    page: PageRequest,
    rows: Sequence[Row],
    render: Callable[[Sequence[Row]], list[Any]],
    *,
    time_field: str = "created_at",
) -> dict[str, Any]:
    """Return the answer for the rows that were read in the `window` of a page. Rows have an `id` and a `time_field`."""
    page_rows, has_more = rows[: page.take], len(rows) > page.take
    next_cursor = _cursor_of_row(page_rows[-1], time_field, page.order) if has_more else None
    return {"items": render(page_rows), "nextCursor": next_cursor, "hasMore": has_more}


def serialize_rendered_page(page: PageRequest, rendered: RenderedPage) -> dict[str, Any]:
    """Return the answer for a page whose rows the database has rendered as one JSON text."""
    last_id, last_at = rendered.last_id, rendered.last_at
    next_cursor = None
    if last_at is not None and last_id is not None:
        next_cursor = sign_cursor(last_at, UUID(last_id), page.order)
    items = orjson.Fragment(f"[{rendered.documents}]")
    return {"items": items, "nextCursor": next_cursor, "hasMore": next_cursor is not None}


def _cursor_of_row(row: Any, time_field: str, order: str) -> str:
    return sign_cursor(getattr(row, time_field), UUID(str(row.id)), order)


def sign_cursor(at: datetime | int, id: UUID, order: str = "") -> str:
    """Return the cursor of a position in an order, a time or a number of eight bytes, for this caller and this path."""
    number = at if isinstance(at, int) else (at - _EPOCH) // timedelta(microseconds=1)
    position = number.to_bytes(_TIME_BYTES, "big", signed=True) + id.bytes
    return base64.urlsafe_b64encode(position + _seal(derived_keys.current_key(_USE), position, order)).decode()


def position_from_cursor(cursor: str | None, order: str = "") -> tuple[datetime, UUID] | None:
    """Return the position of a cursor, None without one. Raises ValidationError if it is invalid here."""
    if not cursor:
        return None
    microseconds, id = _verify_cursor(cursor, order)
    return _EPOCH + timedelta(microseconds=microseconds), id


def sign_key_cursor(key: Sequence[str]) -> str:
    """Return the cursor of a position that is named by texts, for this caller and this path."""
    position = orjson.dumps(list(key))
    return base64.urlsafe_b64encode(_seal(derived_keys.current_key(_USE), position, _BY_KEY) + position).decode()


def key_from_cursor(cursor: str | None) -> tuple[str, ...] | None:
    """Return the texts of a cursor, None without one. Raises ValidationError if it is invalid here."""
    if not cursor:
        return None
    sealed = _decode(cursor)
    seal, position = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
    if not any(hmac.compare_digest(seal, _seal(key, position, _BY_KEY)) for key in derived_keys.accepted_keys(_USE)):
        raise _invalid_cursor()
    return tuple(orjson.loads(position))


def _number_position(query: Mapping[str, Any], order: str) -> tuple[int, UUID] | None:
    return _verify_cursor(query["cursor"], order) if query["cursor"] else None


def _verify_cursor(cursor: str, order: str) -> tuple[int, UUID]:
    sealed = _decode(cursor)
    position, seal = sealed[:-_SEAL_BYTES], sealed[-_SEAL_BYTES:]
    is_authentic = any(
        hmac.compare_digest(seal, _seal(key, position, order)) for key in derived_keys.accepted_keys(_USE)
    )
    if len(position) != _TIME_BYTES + _ID_BYTES or not is_authentic:
        raise _invalid_cursor()
    return int.from_bytes(position[:_TIME_BYTES], "big", signed=True), UUID(bytes=position[_TIME_BYTES:])


def _decode(cursor: str) -> bytes:
    try:
        return base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise _invalid_cursor() from error


def _seal(key: bytes, position: bytes, order: str) -> bytes:
    message = guards.caller_name().encode() + position + request.path.encode() + order.encode()
    # Unlike an HMAC this keeps the interpreter lock, which a busy process would have to wait for again.
    return hashlib.blake2b(message, key=key, digest_size=_SEAL_BYTES).digest()


def _invalid_cursor() -> ValidationError:
    return ValidationError({"cursor": ["This is not a cursor of this list. Use nextCursor as it was returned."]})
