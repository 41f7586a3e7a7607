"""Parses a file of an import: a header with names of API fields, or of columns that a mapping names, and rows.

Amounts are in minor units (`amountCents`) or in major units (`amount`), by the name of their column. Parsing ends at
the first row over the maximum; `domain.imports.tables` splits the file.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from domain.imports.cells import parse_decimal, parse_whole, to_minor
from domain.imports.column_mapping import NAME_PARTS, ColumnMapping, LeftOut
from domain.imports.rows import BadRow
from domain.imports.tables import SEPARATORS as SEPARATORS
from domain.imports.tables import Separator, TableHeader, parse_header, split_rows
from domain.imports.tables import UnreadableFile as UnreadableFile
from domain.money import currencies

Kind = Literal["Affiliates", "Conversions"]

#: The maximum number of rows of one import.
MAX_ROWS = 1000

_MAX_LEFT_OUT = 10_000
_QUOTED_CHARACTERS = 40

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
_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


@dataclass(frozen=True, slots=True)
class FileForm:
    """The detected format of a file. `amounts` is the column of the amounts, None in a file of affiliates.

    `columns` are our fields, and `positions` their columns from 0. `left_out` rows have a word whose rows are not
    imported.
    """

    header: TableHeader
    amounts: Literal["amount", "amountCents"] | None
    has_byte_order_mark: bool
    columns: tuple[str, ...]
    positions: tuple[int, ...]
    left_out: int = 0

    @property
    def separator(self) -> Separator:
        """The separator of cells."""
        return self.header.separator

    @property
    def has_separator_line(self) -> bool:
        """Whether a line above the header names the separator."""
        return self.header.has_separator_line


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
    return "Affiliates" if "email" in {name.lower() for name in parse_header(text).names} else "Conversions"


def read_header(text: str) -> tuple[str, ...]:
    """Return the names of a file's columns. Raises UnreadableFile."""
    return parse_header(text).names


def read_cells(text: str, name: str, *, max_rows: int = MAX_ROWS) -> list[str]:
    """Return the cells of the column `name` in the first rows, without empty ones. Raises UnreadableFile."""
    header = parse_header(text)
    position = header.names.index(name)
    lines = itertools.islice(split_rows(text, header), max_rows)
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


def _detect_form(text: str, fields: Sequence[str], mapping: ColumnMapping | None) -> FileForm:
    header = parse_header(text)
    positions = _find_positions(header, fields) if mapping is None else _find_mapped(header, fields, mapping)
    amounts: Literal["amount", "amountCents"] | None = None
    if fields is SALE_FIELDS:
        amounts = "amount" if any(name in positions for name in _MAJOR) else "amountCents"
    return _build_form(text, header, positions, amounts=amounts)


def _find_mapped(header: TableHeader, fields: Sequence[str], mapping: ColumnMapping) -> dict[str, int]:
    allowed = (*fields, *NAME_PARTS) if fields is PERSON_FIELDS else fields
    if unknown := [name for name in mapping.columns if name not in allowed]:
        raise UnreadableFile(f"Unknown field: {unknown[0][:_QUOTED_CHARACTERS]!r}. Fields are: {', '.join(allowed)}.")
    try:
        return mapping.find_positions(header.names)
    except ValueError as error:
        raise UnreadableFile(str(error)) from error


def _find_positions(header: TableHeader, fields: Sequence[str]) -> dict[str, int]:
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
    header: TableHeader,
    positions: Mapping[str, int],
    *,
    amounts: Literal["amount", "amountCents"] | None,
) -> FileForm:
    return FileForm(
        header=header,
        amounts=amounts,
        has_byte_order_mark=text.startswith(_BYTE_ORDER_MARK),
        columns=tuple(positions),
        positions=tuple(positions.values()),
    )


def _parse_rows(text: str, form: FileForm, read: Callable[[Mapping[str, str]], Mapping[str, object]]) -> ImportFile:
    rows, left_out = list[FileRow](), 0
    for line, cells in split_rows(text, form.header):
        if len(rows) > MAX_ROWS:
            break
        try:
            rows.append(FileRow(line, _parse_row(cells, form, read)))
        except LeftOut:
            left_out += 1
            if left_out > _MAX_LEFT_OUT:
                raise UnreadableFile(f"More than {_MAX_LEFT_OUT} rows of the file are left out. Delete them.") from None
    return ImportFile(replace(form, left_out=left_out), rows)


def _parse_row(
    cells: Sequence[str], form: FileForm, read: Callable[[Mapping[str, str]], Mapping[str, object]]
) -> Mapping[str, object] | BadRow:
    if len(cells) < len(form.header.names) or any(cell.strip() for cell in cells[len(form.header.names) :]):
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
        if (cents := parse_whole(cells.get(name, ""))) is not None:
            row[name] = cents
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
    amount = parse_decimal(cell, separator=form.separator)
    minor = to_minor(amount, currencies.exponent(normalized)) if amount is not None and amount >= 0 else None
    if minor is None:
        raise BadRow(code)
    return minor
