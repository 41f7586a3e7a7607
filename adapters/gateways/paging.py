"""Reads the pages of a gateway's lists one after the other: by the link of a page to the next one, or by number."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Query = TypeVar("Query")


def follow(
    fetch: Callable[[Query], Any], query: Query, find_next_query: Callable[[Any], Query | None]
) -> Iterator[Any]:
    """Yield the page of `query` and all later ones; `find_next_query` returns the next query from a page, or None.

    Raises as `fetch`.
    """
    next_query: Query | None = query
    while next_query is not None:
        page = fetch(next_query)
        yield page
        next_query = find_next_query(page)


def read_by_number(
    fetch: Callable[[int], list[Any]], size: int, *, max_pages: int | None = None
) -> Iterator[list[Any]]:
    """Yield the items of pages 1, 2, … until one is not full; empty pages are left out. Raises as `fetch`."""
    for page_number in itertools.count(1) if max_pages is None else range(1, max_pages + 1):
        items = fetch(page_number)
        if items:
            yield items
        if len(items) < size:
            return
