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
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from domain import deadline
from domain.imports.rows import BadRow
from domain.money import currencies

Kind = Literal["Affiliates", "Conversions"]
Separator = Literal[",", ";", "\t"]

#: The separators of cells; of two that a header contains equally often the first counts.
SEPARATORS: tuple[Separator, ...] = (",", ";", "\t")

#: The maximum number of rows of one import.
MAX_ROWS = 1000

_MAX_COLUMNS = 100
# Empty lines between rows; those after the last row are cut off first.
_MAX_EMPTY_LINES = 10_000
# The CSV reader itself refuses a cell of more than 131,072 characters.
_MAX_LINE_CHARACTERS = 262_144
# More than any valid row contains, even with commas in its texts. Each cell costs time.
_MAX_LINE_SEPARATORS = 1_000
_LINES_PER_CHECK = 256
_QUOTED_CHARACTERS = 40
_BLANK = " \t\r\n"

_BYTE_ORDER_MARK = "\ufeff"
_PEOPLE = ("email", "fullName", "status", "walletEmail", "slug")
_MINOR = ("amountCents", "commissionCents")
#: Columns of amounts in major units, and what each is in minor units.
_MAJOR = {"amount": "amountCents", "commission": "commissionCents"}
_SALES = (
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

    `columns` are those with a name. `has_separator_line`: a line such as `sep=;` precedes the header.
    """

    separator: Separator
    amounts: Literal["amount", "amountCents"] | None
    has_byte_order_mark: bool
    columns: tuple[str, ...]
    has_separator_line: bool = False


@dataclass(frozen=True, slots=True)
class _Header:
    """The names of the columns, the separator, and whether a line above names the separator."""

    names: tuple[str, ...]
    separator: Separator
    has_separator_line: bool


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


def parse_sales(text: str) -> ImportFile:
    """Parse a file of conversions, at most MAX_ROWS + 1 rows. Raises UnreadableFile."""
    form = _detect_form(text, _SALES)
    if double := [name for name in _MAJOR if {name, _MAJOR[name]} <= set(form.columns)]:
        raise UnreadableFile(f"It has both {double[0]} and {_MAJOR[double[0]]}. Leave one of the two columns out.")
    return ImportFile(form, _parse_rows(text, form, lambda cells: _parse_sale(cells, form)))


def parse_affiliates(text: str) -> ImportFile:
    """Parse a file of affiliates, at most MAX_ROWS + 1 rows. Raises UnreadableFile."""
    form = _detect_form(text, _PEOPLE)
    return ImportFile(form, _parse_rows(text, form, lambda cells: cells))


def _parse_header(text: str) -> _Header:
    content = text.removeprefix(_BYTE_ORDER_MARK)
    match = _SEPARATOR_LINE.match(content)
    start = match.end() if match else 0
    end = _LINE_END.search(content, start)
    line = content[start : end.start() if end else len(content)]
    separator: Separator = max(SEPARATORS, key=line.count)
    if match:
        separator = next(mark for mark in SEPARATORS if mark == match[1])
    header = line.rstrip(f'{separator} \t"')
    if not header:
        raise UnreadableFile("Its first line must name the columns.")
    if header.count(separator) >= _MAX_COLUMNS:
        raise UnreadableFile(f"It has more than {_MAX_COLUMNS} columns. Leave out those that are not imported.")
    names = tuple(name.strip().strip('"').strip() for name in header.split(separator))
    return _Header(names, separator, has_separator_line=match is not None)


def _detect_form(text: str, fields: Sequence[str]) -> FileForm:
    header = _parse_header(text)
    by_lower = {name.lower(): name for name in fields}
    if unknown := [name for name in header.names if name.lower() not in by_lower]:
        quoted = ", ".join(repr(name[:_QUOTED_CHARACTERS]) for name in unknown[:5])
        raise UnreadableFile(f"Unknown column: {quoted}. The columns can be: {', '.join(fields)}.")
    columns = tuple(by_lower[name.lower()] for name in header.names)
    if repeated := sorted({name for name in columns if columns.count(name) > 1}):
        raise UnreadableFile(f"It has the column {repeated[0]} twice. Leave one out.")
    has_major = any(name in columns for name in _MAJOR)
    amounts: Literal["amount", "amountCents"] | None = None
    if fields is _SALES:
        amounts = "amount" if has_major else "amountCents"
    return FileForm(
        separator=header.separator,
        amounts=amounts,
        has_byte_order_mark=text.startswith(_BYTE_ORDER_MARK),
        columns=columns,
        has_separator_line=header.has_separator_line,
    )


def _parse_rows(
    text: str, form: FileForm, read: Callable[[Mapping[str, str]], Mapping[str, object]]
) -> Sequence[FileRow]:
    lines = itertools.islice(_split_lines(text, form), MAX_ROWS + 1)
    return [FileRow(line, _parse_row(cells, form, read)) for line, cells in lines]


def _split_lines(text: str, form: FileForm) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the cells of each row that is not empty, with the number of the line where it starts."""
    records = csv.reader(_read_lines(text, form.separator), delimiter=form.separator, strict=True)
    line, empty = 1, 0
    try:
        for _ in range(2 if form.has_separator_line else 1):
            next(records)
        line = records.line_num + 1
        for cells in records:
            if any(cells) and "".join(cells).strip():
                yield line, cells
            else:
                empty += 1
                if empty > _MAX_EMPTY_LINES:
                    raise UnreadableFile(f"It has more than {_MAX_EMPTY_LINES} empty lines. Delete them.")
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
    count = len(form.columns)
    if len(cells) < count or any(cell.strip() for cell in cells[count:]):
        return BadRow("wrong_cell_count")
    filled = {name: cell.strip() for name, cell in zip(form.columns, cells, strict=False) if cell.strip()}
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
