"""Reads a file of an import: cells divided by commas, semicolons or tabs, below the names of the interface's fields.

A row is known by its line in the file; empty lines count and are passed over. Spreadsheet programs write a line such as
`sep=;` above the header, and empty columns to the right of the last one: both are read and ignored. Amounts come in
minor units (`amountCents`) or in major units (`amount`), by the name of their column.

Reading takes time in proportion to the length of the file and checks the request's deadline. It ends at the first line
of a file with too many columns, at the first row with far too many cells, and at the first row over the maximum.
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

#: What may divide cells; of two that a header has equally often the first counts.
SEPARATORS: tuple[Separator, ...] = (",", ";", "\t")

#: The maximum number of rows of one import.
MAX_ROWS = 1000

_MAX_COLUMNS = 100
# Lines without a cell may stand between rows; whatever follows the last row is cut off first.
_MAX_EMPTY_LINES = 10_000
# The CSV reader itself refuses a cell of more than 131,072 characters.
_MAX_LINE_CHARACTERS = 262_144
# More than any row has whose cells are in order, also where commas stand in its texts. Each cell costs time.
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
# What tells a spreadsheet program how the cells below are divided.
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t])"?[,;\t ]{0,100}(?:\r\n|\r|\n)', re.IGNORECASE)
_WHOLE = re.compile(r"-?[0-9]{1,15}")
# Without thousands apart: of 1,234 nobody can tell whether it is one or a thousand. A comma is a point where cells are
# not divided by it.
_DECIMAL = re.compile(r"[0-9]{1,13}(?:\.[0-9]{1,4})?")
_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


class UnreadableFile(ValueError):
    """A file that cannot be read as rows; its message says why, for people."""


@dataclass(frozen=True, slots=True)
class FileForm:
    """How a file was understood. `amounts` is the column that holds them, None in a file of affiliates.

    `columns` are those with a name. `has_separator_line`: a line such as `sep=;` comes before the header.
    """

    separator: Separator
    amounts: Literal["amount", "amountCents"] | None
    has_byte_order_mark: bool
    columns: tuple[str, ...]
    has_separator_line: bool = False


@dataclass(frozen=True, slots=True)
class _Header:
    """The names of the columns, what divides cells, and whether a line above says so."""

    names: tuple[str, ...]
    separator: Separator
    has_separator_line: bool


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row by its line: what a JSON row would say, or what is wrong with it."""

    line: int
    values: Mapping[str, object] | BadRow


@dataclass(frozen=True, slots=True)
class ImportFile:
    """A file that could be read."""

    form: FileForm
    rows: Sequence[FileRow]


def kind(text: str) -> Kind:
    """Return what a file holds: affiliates where its header says `email`, else conversions.

    Raises UnreadableFile for one without a header.
    """
    return "Affiliates" if "email" in {name.lower() for name in _header(text).names} else "Conversions"


def sales(text: str) -> ImportFile:
    """Read a file of conversions, at most one row more than MAX_ROWS. Raises UnreadableFile."""
    form = _form(text, _SALES)
    if wrong := [name for name in _MAJOR if {name, _MAJOR[name]} <= set(form.columns)]:
        raise UnreadableFile(f"It has both {wrong[0]} and {_MAJOR[wrong[0]]}. Leave one of the two columns out.")
    return ImportFile(form, _rows(text, form, lambda cells: _sale(cells, form)))


def people(text: str) -> ImportFile:
    """Read a file of affiliates, at most one row more than MAX_ROWS. Raises UnreadableFile."""
    form = _form(text, _PEOPLE)
    return ImportFile(form, _rows(text, form, lambda cells: cells))


def _header(text: str) -> _Header:
    content = text.removeprefix(_BYTE_ORDER_MARK)
    said = _SEPARATOR_LINE.match(content)
    start = said.end() if said else 0
    end = _LINE_END.search(content, start)
    line = content[start : end.start() if end else len(content)]
    separator: Separator = max(SEPARATORS, key=line.count)
    if said:
        separator = next(one for one in SEPARATORS if one == said[1])
    named = line.rstrip(f'{separator} \t"')
    if not named:
        raise UnreadableFile("Its first line must name the columns.")
    if named.count(separator) >= _MAX_COLUMNS:
        raise UnreadableFile(f"It has more than {_MAX_COLUMNS} columns. Leave out those that are not imported.")
    names = tuple(name.strip().strip('"').strip() for name in named.split(separator))
    return _Header(names, separator, has_separator_line=said is not None)


def _form(text: str, known: Sequence[str]) -> FileForm:
    header = _header(text)
    by_lower = {name.lower(): name for name in known}
    if unknown := [name for name in header.names if name.lower() not in by_lower]:
        quoted = ", ".join(repr(name[:_QUOTED_CHARACTERS]) for name in unknown[:5])
        raise UnreadableFile(f"No field is called {quoted}. Columns may be: {', '.join(known)}.")
    columns = tuple(by_lower[name.lower()] for name in header.names)
    if twice := sorted({name for name in columns if columns.count(name) > 1}):
        raise UnreadableFile(f"The column {twice[0]} stands there twice.")
    has_major = any(name in columns for name in _MAJOR)
    amounts: Literal["amount", "amountCents"] | None = None
    if known is _SALES:
        amounts = "amount" if has_major else "amountCents"
    return FileForm(
        separator=header.separator,
        amounts=amounts,
        has_byte_order_mark=text.startswith(_BYTE_ORDER_MARK),
        columns=columns,
        has_separator_line=header.has_separator_line,
    )


def _rows(text: str, form: FileForm, read: Callable[[Mapping[str, str]], Mapping[str, object]]) -> Sequence[FileRow]:
    filled = itertools.islice(_filled_lines(text, form), MAX_ROWS + 1)
    return [FileRow(line, _read(cells, form, read)) for line, cells in filled]


def _filled_lines(text: str, form: FileForm) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the cells of each line below the header that has any, with the number of the line where it starts."""
    records = csv.reader(_lines(text, form.separator), delimiter=form.separator, strict=True)
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


def _lines(text: str, separator: str) -> Iterator[str]:
    """Yield the lines up to the last one that has a cell, with their line ends."""
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


def _read(
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


def _sale(cells: Mapping[str, str], form: FileForm) -> Mapping[str, object]:
    row: dict[str, object] = {name: cell for name, cell in cells.items() if name not in _MAJOR}
    for name in _MINOR:
        if _WHOLE.fullmatch(cells.get(name, "")):
            row[name] = int(cells[name])
    for name in _MAJOR:
        if name in cells:
            row[_MAJOR[name]] = _minor(cells[name], cells.get("currency", ""), form, code=f"invalid_{name}")
    if "paid" in cells:
        said = cells["paid"].lower()
        row["paid"] = True if said in _YES else False if said in _NO else said
    return row


def _minor(said: str, currency: str, form: FileForm, *, code: str) -> int:
    """Return an amount in minor units; raises BadRow for one that has none in whole."""
    known = currencies.normalize(currency)
    if known is None:
        raise BadRow("unsupported_currency")
    plain = said if form.separator == "," else said.replace(",", ".")
    if not _DECIMAL.fullmatch(plain):
        raise BadRow(code)
    minor = Decimal(plain).scaleb(currencies.exponent(known))
    if minor != minor.to_integral_value():
        raise BadRow(code)
    return int(minor)
