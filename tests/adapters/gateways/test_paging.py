"""Lists of several pages are read page by page to their end, and no further."""

import pytest

from adapters.gateways import paging


def test_follow_reads_pages_until_the_last():
    pages = {"": ("a", "1"), "1": ("b", "2"), "2": ("c", None)}
    expected = []

    def fetch(cursor):
        expected.append(cursor)
        return pages[cursor]

    assert [name for name, _ in paging.follow(fetch, "", lambda page: page[1])] == ["a", "b", "c"]
    assert expected == ["", "1", "2"]


def test_follow_reads_no_page_ahead():
    expected = []
    pages = paging.follow(lambda cursor: expected.append(cursor) or cursor, 0, lambda page: page + 1)

    assert [next(pages), next(pages)] == [0, 1]
    assert expected == [0, 1]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([2, 2, 1], [1, 2, 3]), ([2, 2, 0], [1, 2, 3]), ([0], [1]), ([1], [1]), ([2] * 9, [1, 2, 3, 4])],
)
def test_number_stops_at_a_short_page_or_the_maximum(lengths, expected):
    numbers = []

    def fetch(number):
        numbers.append(number)
        return ["item"] * lengths[number - 1]

    pages = list(paging.read_by_number(fetch, 2, max_pages=4))

    assert numbers == expected
    assert [len(page) for page in pages] == [length for length in lengths[: len(expected)] if length]
