"""How far a list of the source is walked, and what to request next, although rows come and go meanwhile.

A row that is in the list during the whole reading is neither missed nor stored twice: rows are stored by their ids, so
only those that a page skipped need care.
Source: the switch-over rules, "Jobs" (a list that moves).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from domain.switches.sources import MAX_COMMISSIONS

Moves = Literal["by_total", "unknown", "stable"]

#: A list without a total is walked at most this often.
MAX_WALKS = 3
#: Pages in a row without a new row, beyond those that a further walk repeats, after which a list has no end.
MAX_IDLE_PAGES = 20_000
#: A list with totals is led back by twice its pages at most, or by so many if that is more: totals may be wrong.
MIN_PAGES_BACK = 100
#: A list by cursor is begun again at most this often because the row of its cursor is gone.
MAX_RESTARTS = 3


@dataclass(frozen=True, slots=True)
class ListPosition:
    """Where the reading of a list is.

    `cursor` names the next page (None: the first); of a stable list that is done it names the last page. `parent` is
    the row for which the list is requested, if it is requested for rows of another. `new_rows` are the rows of this
    walk that no walk before it had, `total` is the last one that a page told. `idle_pages` are the pages in a row, up
    to this one, that had no new row. `pages_back` pages were read again because a total fell; of a list by cursor it is
    how often it was begun again.
    """

    cursor: Mapping[str, Any] | None = None
    parent: str | None = None
    walk: int = 1
    new_rows: int = 0
    is_done: bool = False
    total: int | None = None
    idle_pages: int = 0
    pages_back: int = 0


def is_endless(position: ListPosition, *, read: int) -> bool:
    """Return whether a list repeats itself; `read` is how many rows its collection has.

    A further walk has known rows only, at least one on each page.
    """
    return position.idle_pages > MAX_IDLE_PAGES + (read if position.walk > 1 else 0)


def count_pages_back(position: ListPosition, *, moves: Moves, total: int | None, page_size: int) -> int:
    """Return how many pages before the one just read must be read again because its total fell; 0 if none.

    Deleted rows pull those that follow towards the start, by as many as the total fell. Beyond the limit of a list
    (`MIN_PAGES_BACK`) it is 0: totals that rise and fall would keep it from its end.
    """
    if moves != "by_total" or total is None or position.total is None or position.cursor is None:
        return 0
    pages = max(0, -(-(position.total - total) // page_size))
    list_pages = -(-min(position.total, MAX_COMMISSIONS) // page_size)
    return pages if position.pages_back + pages <= max(MIN_PAGES_BACK, 2 * list_pages) else 0


def after_step_back(
    position: ListPosition, *, cursor: Mapping[str, Any] | None, pages: int, total: int | None, new_rows: int
) -> ListPosition:
    """Return the position so many pages before a page that was read; `cursor` names the page there."""
    return replace(
        position,
        cursor=cursor,
        total=total,
        new_rows=position.new_rows + new_rows,
        pages_back=position.pages_back + pages,
    )


def restart(position: ListPosition, *, moves: Moves) -> ListPosition | None:
    """Return the first page's position for a source that refuses the cursor of a list; None if that is no remedy.

    The row that the cursor names as `after` may have been deleted. Rows are stored by their ids, so none is doubled.
    """
    names_row = position.cursor is not None and position.cursor.get("after") is not None
    if moves != "stable" or not names_row or position.pages_back >= MAX_RESTARTS:
        return None
    return replace(position, cursor=None, pages_back=position.pages_back + 1)


def after_page(
    position: ListPosition, *, moves: Moves, next_cursor: Mapping[str, Any] | None, total: int | None, new_rows: int
) -> ListPosition:
    """Return the position after a page. `next_cursor` None: it was the last one (of this parent)."""
    is_last = next_cursor is None
    # A stable list is requested once more from its last page, where rows may have been added.
    cursor = position.cursor if is_last and moves == "stable" else next_cursor
    return replace(
        position,
        cursor=cursor,
        new_rows=position.new_rows + new_rows,
        is_done=is_last,
        total=position.total if total is None else total,
    )


def next_parent(position: ListPosition, parent: str | None) -> ListPosition:
    """Return the position at the first page of the next parent; None: there is no further one, the walk is done."""
    if parent is None:
        return replace(position, cursor=None, is_done=True)
    return replace(position, cursor=None, parent=parent, is_done=False, total=None, idle_pages=0)


def next_walk(position: ListPosition, *, moves: Moves, is_of_parents: bool) -> ListPosition | None:
    """Return the position from which a list is read again, after all lists were read; None if it need not be.

    A list without a total is walked from the start until a walk brings nothing new, at most `MAX_WALKS` times. A
    stable one is requested once more from its last page; for parents it is requested for those that were added.
    """
    if moves == "unknown":
        if position.walk >= MAX_WALKS or (position.walk > 1 and position.new_rows == 0):
            return None
        return ListPosition(walk=position.walk + 1, total=position.total)
    if position.walk > 1 or (moves == "by_total" and not is_of_parents):
        return None
    return ListPosition(cursor=None if is_of_parents else position.cursor, walk=2, total=position.total)
