"""Lists of several pages are read to their end, page by page, and no further."""

import pytest

from adapters.gateways import paging


def test_follow_reads_pages_until_none_follows():
    pages = {"": ("a", "1"), "1": ("b", "2"), "2": ("c", None)}
    read = []

    def fetch(cursor):
        read.append(cursor)
        return pages[cursor]

    assert [name for name, _ in paging.follow(fetch, "", lambda page: page[1])] == ["a", "b", "c"]
    assert read == ["", "1", "2"]


def test_follow_reads_no_page_ahead():
    read = []
    pages = paging.follow(lambda cursor: read.append(cursor) or cursor, 0, lambda page: page + 1)

    assert [next(pages), next(pages)] == [0, 1]
    assert read == [0, 1]


@pytest.mark.parametrize(
    ("lengths", "read"),
    [([2, 2, 1], [1, 2, 3]), ([2, 2, 0], [1, 2, 3]), ([0], [1]), ([1], [1]), ([2] * 9, [1, 2, 3, 4])],
)
def test_number_ends_with_a_page_that_is_not_full_or_with_the_last_allowed(lengths, read):
    numbers = []

    def fetch(number):
        numbers.append(number)
        return ["item"] * lengths[number - 1]

    pages = list(paging.number(fetch, 2, max_pages=4))

    assert numbers == read
    assert [len(page) for page in pages] == [length for length in lengths[: len(read)] if length]
