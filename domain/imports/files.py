"""Parses a file of an import: a header with names of API fields, cells separated by commas, semicolons or tabs.

A row is identified by its line in the file; empty lines count and are skipped. A line such as `sep=;` above the header
and empty columns on the right, as spreadsheet programs write them, are accepted. Amounts are in minor units
(`amountCents`) or in major units (`amount`), by the name of their column.

The time is linear in the length of the file, and the request's deadline is checked. Parsing ends at the header of a
file with too many columns, at the first row with far too many cells, and at the first row over the maximum.
"""

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from domain import deadline
from domain.imports.column_mapping import NAME_PARTS, ColumnMapping, LeftOut
from domain.imports.rows import BadRow
from domain.money import currencies

Kind = Literal["Affiliates", "Conversions"]
Separator = Literal[",", ";", "\t"]

#: The separators of cells; of two that a header contains equally often the first counts.
SEPARATORS: tuple[Separator, ...] = (",", ";", "\t")

#: The maximum number of rows of one import.
MAX_ROWS = 1000

_MAX_COLUMNS = 100
_MAX_NAME_CHARACTERS = 255
# Empty lines between rows; those after the last row are cut off first.
_MAX_EMPTY_LINES = 10_000
_MAX_LEFT_OUT = 10_000
# The CSV reader itself refuses a cell of more than 131,072 characters.
_MAX_LINE_CHARACTERS = 262_144
# More than any valid row contains, even with commas in its texts. Each cell costs time.
_MAX_LINE_SEPARATORS = 1_000
_LINES_PER_CHECK = 256
_QUOTED_CHARACTERS = 40
_BLANK = " \t\r\n"

_BYTE_ORDER_MARK = "\ufeff"
#: The fields of a file of affiliates, and of one of conversions.
PERSON_FIELDS = ("email", "fullName", "status", "walletEmail", "slug")
_MINOR = ("amountCents", "commissionCents")
#: Columns of amounts in major units, and what each is in minor units.
_MAJOR = {"amount": "amountCents", "commission": "commissionCents"}
SALE_FIELDS = (
    "affiliateEmail",
    "affiliateSlug",
    "customerEmail",
    "customerName",
    *_MINOR,
    *_MAJOR,
    "currency",
    "occurredAt",
    "paid",
    "type",
    "processorCustomerId",
    "processorSubscriptionId",
    "externalId",
)
_LINE_END = re.compile(r"[\r\n]")
# The line that tells a spreadsheet program the separator.
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t])"?[,;\t ]{0,100}(?:\r\n|\r|\n)', re.IGNORECASE)
# The line in which some services name the table: [[AFFILIATES]].
_TABLE_LINE = re.compile(r'"?\[\[[A-Za-z_ ]{1,40}\]\]"?[,;\t ]{0,100}(?:\r\n|\r|\n)')
_WHOLE = re.compile(r"-?[0-9]{1,15}")
# Without separators of thousands, since 1,234 is ambiguous. A comma is a decimal point where it does not separate
# cells.
_DECIMAL = re.compile(r"[0-9]{1,13}(?:\.[0-9]{1,4})?")
_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


class UnreadableFile(ValueError):
    """The file cannot be parsed into rows; the message tells the user why."""


@dataclass(frozen=True, slots=True)
class FileForm:
    """The detected format of a file. `amounts` is the column of the amounts, None in a file of affiliates.

    `columns` are our fields, and `positions` their columns from 0 of the `width` that the header has. A line above the
    header may name the separator (`sep=;`) or the table. `left_out` rows have a word whose rows are not imported.
    """

    separator: Separator
    amounts: Literal["amount", "amountCents"] | None
    has_byte_order_mark: bool
    columns: tuple[str, ...]
    positions: tuple[int, ...]
    width: int
    has_separator_line: bool = False
    has_line_above: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Header:
    """The names of the columns, the separator, and the line above, which names the separator or the table."""

    names: tuple[str, ...]
    separator: Separator
    has_separator_line: bool
    has_line_above: bool


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row by its line: the values of a JSON row, or its fault."""

    line: int
    values: Mapping[str, object] | BadRow


@dataclass(frozen=True, slots=True)
class ImportFile:
    """A parsed file."""

    form: FileForm
    rows: Sequence[FileRow]


def detect_kind(text: str) -> Kind:
    """Return the kind of a file: affiliates if its header contains `email`, else conversions.

    Raises UnreadableFile for one without a header.
    """
    return "Affiliates" if "email" in {name.lower() for name in _parse_header(text).names} else "Conversions"


def read_header(text: str) -> tuple[str, ...]:
    """Return the names of a file's columns. Raises UnreadableFile."""
    return _parse_header(text).names


def read_cells(text: str, name: str, *, max_rows: int = MAX_ROWS) -> list[str]:
    """Return the cells of the column `name` in the first rows, without empty ones. Raises UnreadableFile."""
    header = _parse_header(text)
    position = header.names.index(name)
    form = _build_form(text, header, {name: position}, amounts=None)
    lines = itertools.islice(_split_lines(text, form), max_rows)
    return [cell for _, cells in lines if position < len(cells) and (cell := cells[position].strip())]


def parse_sales(text: str, mapping: ColumnMapping | None = None) -> ImportFile:
    """Parse a file of conversions, at most MAX_ROWS + 1 rows; `mapping` names its columns. Raises UnreadableFile."""
    form = _detect_form(text, SALE_FIELDS, mapping)
    if double := [name for name in _MAJOR if {name, _MAJOR[name]} <= set(form.columns)]:
        raise UnreadableFile(f"The file has both {double[0]} and {_MAJOR[double[0]]}. Delete one of the two columns.")
    if mapping is None:
        return _parse_rows(text, form, lambda cells: _parse_sale(cells, form))
    return _parse_rows(text, form, lambda cells: _parse_sale(mapping.to_sale(cells), form))


def parse_affiliates(text: str, mapping: ColumnMapping | None = None) -> ImportFile:
    """Parse a file of affiliates as `parse_sales` does. Raises UnreadableFile."""
    form = _detect_form(text, PERSON_FIELDS, mapping)
    return _parse_rows(text, form, lambda cells: cells if mapping is None else mapping.to_person(cells))


def _parse_header(text: str) -> _Header:
    content = text.removeprefix(_BYTE_ORDER_MARK)
    match = _SEPARATOR_LINE.match(content)
    above = match or _TABLE_LINE.match(content)
    start = above.end() if above else 0
    end = _LINE_END.search(content, start)
    line = content[start : end.start() if end else len(content)]
    separator: Separator = max(SEPARATORS, key=line.count)
    if match:
        separator = next(mark for mark in SEPARATORS if mark == match[1])
    header = line.rstrip(f"{separator} \t")
    if not header.strip('"'):
        raise UnreadableFile("The first line of the file must name the columns.")
    if header.count(separator) >= _MAX_COLUMNS:
        raise UnreadableFile(f"The file has more than {_MAX_COLUMNS} columns. Delete those that are not imported.")
    try:
        cells = next(csv.reader([header], delimiter=separator))
    except csv.Error as error:
        raise UnreadableFile(f"The first line of the file cannot be read: {error}.") from error
    names = [name.strip().strip('"').strip() for name in cells]
    while names and not names[-1]:
        names.pop()
    if any(len(name) > _MAX_NAME_CHARACTERS for name in names):
        raise UnreadableFile(f"A column name has more than {_MAX_NAME_CHARACTERS} characters. Shorten or delete it.")
    if not names:
        raise UnreadableFile("The first line of the file must name the columns.")
    return _Header(tuple(names), separator, has_separator_line=match is not None, has_line_above=above is not None)


def _detect_form(text: str, fields: Sequence[str], mapping: ColumnMapping | None) -> FileForm:
    header = _parse_header(text)
    positions = _find_positions(header, fields) if mapping is None else _find_mapped(header, fields, mapping)
    amounts: Literal["amount", "amountCents"] | None = None
    if fields is SALE_FIELDS:
        amounts = "amount" if any(name in positions for name in _MAJOR) else "amountCents"
    return _build_form(text, header, positions, amounts=amounts)


def _find_mapped(header: _Header, fields: Sequence[str], mapping: ColumnMapping) -> dict[str, int]:
    allowed = (*fields, *NAME_PARTS) if fields is PERSON_FIELDS else fields
    if unknown := [name for name in mapping.columns if name not in allowed]:
        raise UnreadableFile(f"Unknown field: {unknown[0][:_QUOTED_CHARACTERS]!r}. Fields are: {', '.join(allowed)}.")
    try:
        return mapping.find_positions(header.names)
    except ValueError as error:
        raise UnreadableFile(str(error)) from error


def _find_positions(header: _Header, fields: Sequence[str]) -> dict[str, int]:
    by_lower = {name.lower(): name for name in fields}
    if unknown := [name for name in header.names if name.lower() not in by_lower]:
        quoted = ", ".join(repr(name[:_QUOTED_CHARACTERS]) for name in unknown[:5])
        raise UnreadableFile(f"Unknown column: {quoted}. The columns can be: {', '.join(fields)}.")
    columns = tuple(by_lower[name.lower()] for name in header.names)
    if repeated := sorted({name for name in columns if columns.count(name) > 1}):
        raise UnreadableFile(f"The file has the column {repeated[0]} twice. Delete one of them.")
    return {name: position for position, name in enumerate(columns)}


def _build_form(
    text: str,
    header: _Header,
    positions: Mapping[str, int],
    *,
    amounts: Literal["amount", "amountCents"] | None,
) -> FileForm:
    return FileForm(
        separator=header.separator,
        amounts=amounts,
        has_byte_order_mark=text.startswith(_BYTE_ORDER_MARK),
        columns=tuple(positions),
        positions=tuple(positions.values()),
        width=len(header.names),
        has_separator_line=header.has_separator_line,
        has_line_above=header.has_line_above,
    )


def _parse_rows(text: str, form: FileForm, read: Callable[[Mapping[str, str]], Mapping[str, object]]) -> ImportFile:
    rows, left_out = list[FileRow](), 0
    for line, cells in _split_lines(text, form):
        if len(rows) > MAX_ROWS:
            break
        try:
            rows.append(FileRow(line, _parse_row(cells, form, read)))
        except LeftOut:
            left_out += 1
            if left_out > _MAX_LEFT_OUT:
                raise UnreadableFile(f"More than {_MAX_LEFT_OUT} rows of the file are left out. Delete them.") from None
    return ImportFile(replace(form, left_out=left_out), rows)


def _split_lines(text: str, form: FileForm) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the cells of each row that is not empty, with the number of the line where it starts."""
    records = csv.reader(_read_lines(text, form.separator), delimiter=form.separator, strict=True)
    line, empty = 1, 0
    try:
        for _ in range(2 if form.has_line_above else 1):
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


def _read_lines(text: str, separator: str) -> Iterator[str]:
    """Yield the lines up to the last that is not empty, with their line ends."""
    content = text.removeprefix(_BYTE_ORDER_MARK)
    last = _LINE_END.search(content, len(content.rstrip(_BLANK + separator)))
    for number, line in enumerate(io.StringIO(content[: last.end()] if last else content, newline="")):
        if number % _LINES_PER_CHECK == 0:
            deadline.check()
        if len(line) > _MAX_LINE_CHARACTERS:
            raise UnreadableFile(f"Line {number + 1} is longer than {_MAX_LINE_CHARACTERS} characters.")
        if line.count(separator) > _MAX_LINE_SEPARATORS:
            raise UnreadableFile(
                f"Line {number + 1} has more than {_MAX_LINE_SEPARATORS} cells. Delete those without a column."
            )
        yield line


def _parse_row(
    cells: Sequence[str], form: FileForm, read: Callable[[Mapping[str, str]], Mapping[str, object]]
) -> Mapping[str, object] | BadRow:
    if len(cells) < form.width or any(cell.strip() for cell in cells[form.width :]):
        return BadRow("wrong_cell_count")
    filled = {
        name: cells[position].strip()
        for name, position in zip(form.columns, form.positions, strict=True)
        if cells[position].strip()
    }
    try:
        return read(filled)
    except BadRow as bad:
        return bad


def _parse_sale(cells: Mapping[str, str], form: FileForm) -> Mapping[str, object]:
    row: dict[str, object] = {name: cell for name, cell in cells.items() if name not in _MAJOR}
    for name in _MINOR:
        if _WHOLE.fullmatch(cells.get(name, "")):
            row[name] = int(cells[name])
    for name in _MAJOR:
        if name in cells:
            row[_MAJOR[name]] = _parse_amount(cells[name], cells.get("currency", ""), form, code=f"invalid_{name}")
    if "paid" in cells:
        paid = cells["paid"].lower()
        row["paid"] = True if paid in _YES else False if paid in _NO else paid
    return row


def _parse_amount(cell: str, currency: str, form: FileForm, *, code: str) -> int:
    """Return an amount in minor units. Raises BadRow for one that is not a whole number of them."""
    normalized = currencies.normalize(currency)
    if normalized is None:
        raise BadRow("unsupported_currency")
    text = cell if form.separator == "," else cell.replace(",", ".")
    if not _DECIMAL.fullmatch(text):
        raise BadRow(code)
    minor = Decimal(text).scaleb(currencies.exponent(normalized))
    if minor != minor.to_integral_value():
        raise BadRow(code)
    return int(minor)
