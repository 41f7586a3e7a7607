"""The first rows of a file as they will be, in words: amounts as money, times in the zone of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from domain.money import currencies, wording
from domain.switches.files import file_fields
from domain.switches.sources import ONLY_CAMPAIGN
from pages import template_filters
from pages.brand.switches import switch_words

# The names of a person are shown as the full name, an amount in one unit.
_SHOWN_BY_ANOTHER: Final = ("firstName", "lastName", "amountCents", "commissionCents")
_UNITS: Final = dict(file_fields.UNITS)
_AMOUNTS: Final = (*_UNITS, "refunded", "cents")
_TIMES: Final = ("firstPaidAt", "occurredAt")
_LABELS: Final[Mapping[str, str]] = {
    "amount": "Sale amount",
    "cents": "Total",
    "commission": "Commission",
    "refunded": "Refunded amount",
    "status": "Status here",
    "state": "Status",
    "token": "Link code",
}
# Of such rows the amounts, or all cells, are shown as they are in the file.
_UNREADABLE: Final = "unreadable_row"
_WITHOUT_AMOUNT: Final = (_UNREADABLE, "unsupported_currency", "amount_out_of_range")


@dataclass(frozen=True, slots=True)
class FileCell:
    """A cell: its text, and whether that is one of our words, which are translated."""

    text: Any
    is_word: bool = False


def list_columns(files: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the fields that the first rows have, each with its words."""
    rows = [row["values"] for row in files["preview"]]
    fields = [field for field in file_fields.FIELDS[files["collection"]] if field not in _SHOWN_BY_ANOTHER]
    used = [field for field in fields if any(field in values or _UNITS.get(field) in values for values in rows)]
    return [
        (field, _LABELS.get(field) or switch_words.describe(switch_words.FIELDS, field))
        for field in used
        if field != "campaign" or field in files["columns"]
    ]


def list_rows(files: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the first rows: where each is in the file, its cells in the order of the columns, and what is wrong."""
    fields = [field for field, _ in list_columns(files)]
    return [
        {
            "part": row["part"] if len(files["parts"]) > 1 else None,
            "line": row["line"],
            "cells": [_to_cell(field, row) for field in fields],
            "problem": row["message"] or switch_words.describe(switch_words.REASONS, row["problem"])
            if row["problem"]
            else None,
            "warnings": [switch_words.list_warning_forms(code) for code in row["warnings"]],
        }
        for row in files["preview"]
    ]


def _to_cell(field: str, row: Mapping[str, Any]) -> FileCell:
    values = row["values"]
    if row["problem"] == _UNREADABLE or (field in _AMOUNTS and row["problem"] in _WITHOUT_AMOUNT):
        return FileCell(values.get(field, values.get(_UNITS.get(field, ""), wording.DASH)))
    value = values.get(_UNITS.get(field, field), values.get(field))
    if value is None:
        return FileCell(wording.DASH)
    if field in _AMOUNTS:
        return FileCell(_format_amount(value, values.get("currency")))
    if field in _TIMES:
        return FileCell(template_filters.format_time(value))
    if field == "state":
        return FileCell(switch_words.MEANINGS.get(value, value), is_word=value in switch_words.MEANINGS)
    if field == "status":
        return FileCell(template_filters.state_words(value), is_word=True)
    if field == "campaign" and value == ONLY_CAMPAIGN:
        return FileCell("No campaign", is_word=True)
    if field == "name" and "cents" in values:
        return FileCell(switch_words.name_figure(value), is_word=True)
    return FileCell(value)


def _format_amount(value: int | str, currency: str | None) -> str:
    if isinstance(value, str):
        return value
    if currency not in currencies.EXPONENTS:
        return template_filters.format_number(value)
    return wording.format_money(value, currency)
