"""Splits a file into a header and rows of cells, separated by commas, semicolons or tabs, in exports also by bars.

A row is identified by its line in the file; empty lines count and are skipped. A line such as `sep=;` above the header
and empty columns on the right, as spreadsheet programs write them, are accepted. Some services put several tables in a
file, each under a line with its name: `[[AFFILIATES]]`.

The time is linear in the length of the file, and the request's deadline is checked. Splitting ends at the header of a
file with too many columns, and at the first row with far too many cells.
"""

import codecs
import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from domain import deadline

Separator = Literal[",", ";", "\t", "|"]

#: The separators of cells; of two that a header contains equally often the first counts.
SEPARATORS: tuple[Separator, ...] = (",", ";", "\t")
#: Those of a whole export, which may be a service's own choice.
EXPORT_SEPARATORS: tuple[Separator, ...] = (*SEPARATORS, "|")

_MAX_COLUMNS = 100
_MAX_NAME_CHARACTERS = 255
# Empty lines between rows; those after the last row are cut off first.
_MAX_EMPTY_LINES = 10_000
# The CSV reader itself refuses a cell of more than 131,072 characters.
_MAX_LINE_CHARACTERS = 262_144
# More than any valid row contains, even with commas in its texts. Each cell costs time.
_MAX_LINE_SEPARATORS = 1_000
_LINES_PER_CHECK = 256
_BLANK = " \t\r\n"

_BYTE_ORDER_MARK = "\ufeff"
_LINE_END = re.compile(r"[\r\n]")
# The line that tells a spreadsheet program the separator.
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?[,;\t ]{0,100}(?:\r\n|\r|\n)', re.IGNORECASE)
# The line in which some services name the table: [[AFFILIATES]].
_TABLE_NAME = r"\[\[([A-Za-z_ ]{1,40})\]\]"
_TABLE_LINE = re.compile(rf'"?{_TABLE_NAME}"?[,;\t| ]{{0,100}}(?:\r\n|\r|\n)')
_TABLE_CELL = re.compile(_TABLE_NAME)
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class UnreadableFile(ValueError):
    """The file cannot be parsed into rows; the message tells the user why."""


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The names of the columns, the separator, and the line above, which names the separator or the `table`."""

    names: tuple[str, ...]
    separator: Separator
    has_separator_line: bool = False
    has_line_above: bool = False
    table: str | None = None


def parse_header(text: str, separators: Sequence[Separator] = SEPARATORS) -> TableHeader:
    """Return the header of a file. Raises UnreadableFile."""
    content = text.removeprefix(_BYTE_ORDER_MARK)
    match = _SEPARATOR_LINE.match(content)
    if match and match[1] not in separators:
        match = None
    table = _TABLE_LINE.match(content)
    above = match or table
    start = above.end() if above else 0
    end = _LINE_END.search(content, start)
    line = content[start : end.start() if end else len(content)]
    separator: Separator = max(separators, key=line.count)
    if match:
        separator = next(mark for mark in separators if mark == match[1])
    header = line.rstrip(f"{separator} \t")
    if not header.strip('"'):
        raise UnreadableFile("The first line of the file must name the columns.")
    if header.count(separator) >= _MAX_COLUMNS:
        raise UnreadableFile(f"The file has more than {_MAX_COLUMNS} columns. Delete those that are not imported.")
    try:
        names = _clean_names(next(csv.reader([header], delimiter=separator)))
    except csv.Error as error:
        raise UnreadableFile(f"The first line of the file cannot be read: {error}.") from error
    return TableHeader(names, separator, match is not None, above is not None, table[1] if table else None)


def split_rows(text: str, header: TableHeader) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the cells of each row that is not empty, with the number of the line where it starts.

    Raises UnreadableFile where a row cannot be split.
    """
    content = text.removeprefix(_BYTE_ORDER_MARK)
    last = _LINE_END.search(content, len(content.rstrip(_BLANK + header.separator)))
    lines = io.StringIO(content[: last.end()] if last else content, newline="")
    return _split_rows(lines, header)


def open_table(
    data: bytes, is_wanted: Callable[[str], bool] = lambda name: True
) -> tuple[TableHeader, Iterator[tuple[int, Sequence[str]]]]:
    """Return the header and the rows of a file in UTF-8 or UTF-16, which is decoded as its rows are read.

    Of several tables under lines with their names the first is read whose name `is_wanted` accepts.
    Raises UnreadableFile, also while rows are read.
    """
    utf8 = _to_utf8(data)
    end_of_rows = len(utf8.rstrip(b" \t\r\n,;|"))
    ends = [end for end in (utf8.find(b"\n", end_of_rows), utf8.find(b"\r", end_of_rows)) if end >= 0]
    stream = io.TextIOWrapper(io.BytesIO(utf8[: min(ends) + 1] if ends else utf8), "utf-8-sig", newline="")
    rows = _check_decoding(_open_rows(stream, is_wanted))
    header = next(rows)
    assert isinstance(header, TableHeader)
    return header, rows  # type: ignore[return-value]  # what follows the header are rows


def _to_utf8(data: bytes) -> bytes:
    if not data.startswith(_UTF16_MARKS):
        return data
    try:
        return data.decode("utf-16").encode()
    except UnicodeError as error:
        message = "The file starts like a text in UTF-16, but cannot be read as one. Save it as CSV in UTF-8."
        raise UnreadableFile(message) from error


def _check_decoding(rows: Iterator[object]) -> Iterator[object]:
    try:
        yield from rows
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            "The file is not a text in UTF-8. Save it as CSV in UTF-8, also if it is a spreadsheet."
        ) from error


def _open_rows(
    stream: io.TextIOWrapper, is_wanted: Callable[[str], bool]
) -> Iterator[TableHeader | tuple[int, Sequence[str]]]:
    """Yield the header of the wanted table, then its rows."""
    head = [line for _ in range(2) if (line := stream.readline(_MAX_LINE_CHARACTERS + 1))]
    header = parse_header("".join(head), EXPORT_SEPARATORS)
    rows = _split_rows(itertools.chain(head, iter(lambda: stream.readline(_MAX_LINE_CHARACTERS + 1), "")), header)
    if header.table is None:
        yield header
        yield from rows
        return
    while not is_wanted(header.table or ""):
        name = next((name for _, cells in rows if (name := _table_name(cells)) is not None), None)
        if name is None:
            raise UnreadableFile("The file has no table of this kind: each is under a line with its name in brackets.")
        names = _clean_names(next(rows, (0, []))[1])
        header = TableHeader(names, header.separator, has_line_above=True, table=name)
    yield header
    yield from itertools.takewhile(lambda row: _table_name(row[1]) is None, rows)


def _table_name(cells: Sequence[str]) -> str | None:
    match = _TABLE_CELL.fullmatch(cells[0].strip())
    return match[1] if match and not any(cell.strip() for cell in cells[1:]) else None


def _clean_names(cells: Sequence[str]) -> tuple[str, ...]:
    names = [name.strip().strip('"').strip() for name in cells]
    while names and not names[-1]:
        names.pop()
    if any(len(name) > _MAX_NAME_CHARACTERS for name in names):
        raise UnreadableFile(f"A column name has more than {_MAX_NAME_CHARACTERS} characters. Shorten or delete it.")
    if any("\x00" in name for name in names):
        raise UnreadableFile("A column name has a NUL character. Save the file as CSV in UTF-8.")
    if not names:
        raise UnreadableFile("The first line of the file must name the columns.")
    return tuple(names)


def _split_rows(lines: Iterable[str], header: TableHeader) -> Iterator[tuple[int, Sequence[str]]]:
    records = csv.reader(_check_lines(lines, header.separator), delimiter=header.separator, strict=True)
    line, empty = 1, 0
    try:
        for _ in range(2 if header.has_line_above else 1):
            next(records)
        line = records.line_num + 1
        for cells in records:
            if any(cells) and "".join(cells).strip():
                yield line, cells
            else:
                empty += 1
                if empty > _MAX_EMPTY_LINES:
                    raise UnreadableFile(f"The file has more than {_MAX_EMPTY_LINES} empty lines. Delete them.")
            line = records.line_num + 1
    except csv.Error as error:
        raise UnreadableFile(f"Row {line} cannot be read: {error}.") from error


def _check_lines(lines: Iterable[str], separator: str) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number % _LINES_PER_CHECK == 0:
            deadline.check()
        if len(line) > _MAX_LINE_CHARACTERS:
            raise UnreadableFile(f"Line {number + 1} is longer than {_MAX_LINE_CHARACTERS} characters.")
        if line.count(separator) > _MAX_LINE_SEPARATORS:
            raise UnreadableFile(
                f"Line {number + 1} has more than {_MAX_LINE_SEPARATORS} cells. Delete those without a column."
            )
        yield line
