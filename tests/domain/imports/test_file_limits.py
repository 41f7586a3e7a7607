"""Parsing an import file takes linear time and stops at the deadline of its request."""

import time
from contextlib import suppress
from contextvars import copy_context

import pytest

from domain import deadline
from domain.deadline import ClientLeft, Deadline, DeadlineExceeded
from domain.imports import files
from domain.imports.rows import BadRow
from tests.support.running.costs import least_cost, yardstick_s

_BYTES = 100_000
_LENGTH_FACTOR = 16


def _text_of_length(head, part, length):
    return head + part * (length // len(part))


_TEXTS = {
    "known columns": ("email", ",email"),
    "unknown columns": ("email", ",name"),
    "one column": ("", "email"),
    "line ends": ("", "\r\n"),
    "empty lines": ("email,slug\n", "\n"),
    "empty cells": ("email,slug\n", ",\n"),
    "many cells": ("email,slug\n", "a,"),
    "quotes": ("email,slug\n", '""'),
    "line ends in a cell": ('email,slug\n"', "\n"),
    "rows": ("email,slug\n", "a@b.test,ann\n"),
    "wrong rows": ("email,slug\n", "a\n"),
}


@pytest.mark.parametrize(
    "read", [files.parse_affiliates, files.parse_sales, files.detect_kind], ids=lambda read: read.__name__
)
@pytest.mark.parametrize("name", _TEXTS)
def test_parsing_time_grows_linearly_with_the_file(name, read):
    short_s = _measure_cpu_s(read, _text_of_length(*_TEXTS[name], _BYTES))
    long_s = _measure_cpu_s(read, _text_of_length(*_TEXTS[name], _BYTES * _LENGTH_FACTOR))

    # A quadratic parser takes 256 times as long; clock and cache may add a millisecond.
    assert long_s < 4 * _LENGTH_FACTOR * (short_s + 0.001)


def _measure_cpu_s(read, text):
    """Return the lowest processor time of three runs."""
    durations = []
    for _ in range(3):
        started_at = time.thread_time()
        with suppress(files.UnreadableFile):
            read(text)
        durations.append(time.thread_time() - started_at)
    return min(durations)


@pytest.mark.parametrize("separator", [",", ";"])
def test_header_of_more_than_100_columns_is_refused(separator):
    for read in (files.parse_affiliates, files.parse_sales, files.detect_kind):
        with pytest.raises(files.UnreadableFile, match="more than 100 columns"):
            read(separator.join(["email"] * 101))
    with pytest.raises(files.UnreadableFile, match="twice"):
        files.parse_affiliates(separator.join(["email"] * 100))


@pytest.mark.parametrize("cell", ["", "a", '""', '"a"'], ids=["empty", "plain", "empty in quotes", "in quotes"])
def test_row_of_more_than_1000_cells_is_refused_with_its_line(cell):
    with pytest.raises(files.UnreadableFile, match="Line 3 has more than 1000 cells"):
        files.parse_affiliates(f"email,slug\nann@b.test,ann\n{','.join([cell] * 1_002)}\nben@b.test,ben")

    row = files.parse_affiliates(f"email,slug\n{','.join(['a'] * 1_001)}").rows[0]
    assert isinstance(row.values, BadRow)


_HOSTILE = {
    "header": "email," * 300_000,
    "wide rows": "email,slug\n" + ("a," * 100_000 + "\n") * 10,
    "wide empty rows": "email,slug\n" + ("," * 260_000 + "\n") * 7 + "a",
    "wide quoted rows": "email,slug\n" + ('"",' * 80_000 + "\n") * 8 + "a",
    "one cell": "email\n" + "x" * 2_000_000,
    "NUL": "email\n" + "\0" * 2_000_000,
    "open quote": 'email\n"' + "x" * 2_000_000,
    "open quote over lines": 'email\n"' + "x\n" * 1_000_000,
    "empty lines": "email\n" + "\n" * 2_000_000 + "a",
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_refusing_a_file_takes_no_longer_than_parsing_json_of_its_length(name):
    def read():
        with pytest.raises(files.UnreadableFile):
            files.parse_affiliates(_HOSTILE[name])

    max_s = yardstick_s(len(_HOSTILE[name]))

    assert least_cost(read, enough_s=max_s)[0] <= max_s


def test_refusal_shortens_an_unknown_column_name():
    with pytest.raises(files.UnreadableFile) as refusal:
        files.parse_affiliates("x" * 1_000_000)

    assert len(str(refusal.value)) < 300


def test_parsing_stops_one_row_after_the_maximum():
    file = files.parse_affiliates("email\n" + "a@b.test\n" * 5_000)

    assert len(file.rows) == files.MAX_ROWS + 1


def test_trailing_empty_lines_are_ignored():
    file = files.parse_affiliates("email,slug\r\nann@b.test,ann\r\n" + " ,\t\r\n" * 50_000)

    assert [row.values for row in file.rows] == [{"email": "ann@b.test", "slug": "ann"}]


def test_trailing_empty_cell_of_the_last_row_is_accepted():
    assert [row.values for row in files.parse_affiliates("email,slug\nann@b.test,").rows] == [{"email": "ann@b.test"}]
    assert isinstance(files.parse_affiliates("email\nann@b.test,,x").rows[0].values, BadRow)


def test_more_than_10000_empty_lines_between_rows_are_refused():
    with pytest.raises(files.UnreadableFile, match="more than 10000 empty lines"):
        files.parse_affiliates("email\n" + "\n" * 10_001 + "ann@b.test")

    assert files.parse_affiliates("email\n" + "\n" * 10_000 + "ann@b.test").rows[0].line == 10_002


def test_line_longer_than_the_maximum_is_refused():
    with pytest.raises(files.UnreadableFile, match="Line 2 is longer"):
        files.parse_affiliates("email\n" + "," * 300_000 + "x")


@pytest.mark.parametrize(("has_left", "cpu_s", "error"), [(True, 30, ClientLeft), (False, -1, DeadlineExceeded)])
def test_parsing_stops_at_the_deadline_of_its_request(has_left, cpu_s, error):
    def read():
        deadline.start(Deadline(lambda: has_left, cpu_s=cpu_s))
        with pytest.raises(error):
            files.parse_affiliates("email\nann@b.test\n")

    copy_context().run(read)


def test_deadline_is_checked_again_in_a_long_file():
    has_left = iter([False, False, False, True])

    def read():
        deadline.start(Deadline(lambda: next(has_left)))
        with pytest.raises(ClientLeft):
            files.parse_affiliates("email\n" + "\n" * 9_000 + "ann@b.test")

    copy_context().run(read)


def test_parsing_outside_a_request_has_no_deadline():
    assert len(files.parse_affiliates("email\nann@b.test\n").rows) == 1
