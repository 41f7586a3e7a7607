"""Pages of a row list: by number, newest or oldest first, and by the id of the last row."""

from collections.abc import Callable
from typing import Any

from commands.demo.played.account import PlayedRows
from commands.demo.played.source import PlayedRequest


def page_size(request: PlayedRequest, name: str, *, default: int, most: int) -> int:
    """Return the page size that a request asks for; a wrong one is the default."""
    size = request.value(name)
    return max(1, min(int(size), most)) if size.isascii() and size.isdigit() else default


def page_number(request: PlayedRequest, name: str = "page") -> int:
    """Return the number of the requested page, from 1."""
    number = request.value(name)
    return max(1, int(number)) if number.isascii() and number.isdigit() else 1


def count_pages(count: int, size: int) -> int:
    """Return the number of pages of so many rows: 1 without rows."""
    return max(1, -(-count // size))


def newest_first(rows: PlayedRows, *, page: int, size: int) -> list[Any]:
    """Return a page of the rows, newest first."""
    stop = len(rows) - (page - 1) * size
    return rows.slice(max(0, stop - size), stop)[::-1] if stop > 0 else []


def oldest_first(rows: PlayedRows, *, page: int, size: int) -> list[Any]:
    """Return a page of the rows, oldest first."""
    return rows.slice((page - 1) * size, page * size)


def page_after(rows: PlayedRows, last_id: str, *, size: int, key: str = "id") -> tuple[list[Any], bool]:
    """Return the rows after that of an id, oldest first ('' from the start), and whether there are more.

    Raises LookupError for an unknown id.
    """
    start = rows.index_after(last_id, key=key) if last_id else 0
    if start is None:
        raise LookupError(last_id)
    return rows.slice(start, start + size), start + size < len(rows)


def select_matching(rows: PlayedRows, is_match: Callable[[Any], bool]) -> PlayedRows:
    """Return the rows that match, in their order. Reads all rows: for small accounts."""
    return PlayedRows(row for row in rows if is_match(row))
