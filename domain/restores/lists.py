"""Parses a list of payments as CSV, from a rail that cannot be queried, a bank or a brand.

Money depends on every cell, so any ambiguous cell is refused, with its line.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from domain.money import currencies
from domain.payouts import native_sums
from domain.restores.transfers import RailTransfer, TransferState, name_references, parse_key
from domain.text import one_line

#: The columns that a list may have. The first three are required; others are ignored.
COLUMNS = (
    "reference",
    "amount",
    "paid_at",
    "currency",
    "key",
    "payout_id",
    "organization_id",
    "affiliate_id",
    "milestone_id",
    "account",
    "state",
    "native",
)
_REQUIRED = COLUMNS[:3]
_STATES = {"": TransferState.paid, **{state.value: state for state in TransferState}}
_MAX_CHARACTERS = 500
_MAX_CENTS = 2**63 - 1
_MAX_REPORTED = 20
_DATE_CHARACTERS = len("2026-11-28")

# A comma separates thousands and a point decimals. "12,50" may be twelve and a half or 1250, so it is neither.
_AMOUNT = re.compile(r"([0-9]{1,15}|[0-9]{1,3}(?:,[0-9]{3}){1,4})(?:\.([0-9]{1,4}))?", re.ASCII)


class UnreadableList(ValueError):
    """The list is invalid; the message names the lines at fault."""


def parse(text: Iterable[str], *, method: str) -> list[RailTransfer]:
    """Return the transfers of a list. Raises UnreadableList."""
    rows = csv.DictReader(text, strict=True)
    try:
        rows.fieldnames = _parse_headings(rows.fieldnames or ())
        transfers, problems = [], []
        for row, line in _number_rows(rows):
            try:
                transfers.append(_parse_transfer(row, method))
            except ValueError as error:
                problems.append(f"line {line}: {error}")
    except csv.Error as error:
        raise UnreadableList(f"line {rows.line_num}: {error}") from error
    counts = Counter(transfer.reference for transfer in transfers)
    problems += [f"the reference {name} occurs {count} times" for name, count in counts.items() if count > 1]
    if problems:
        more = [f"and {len(problems) - _MAX_REPORTED} more"] if len(problems) > _MAX_REPORTED else []
        raise UnreadableList("; ".join([*problems[:_MAX_REPORTED], *more]))
    return transfers


def _parse_headings(names: Iterable[str]) -> list[str]:
    headings = [re.sub(r"\W+", "_", name.strip().lower().lstrip("\ufeff")) for name in names]
    if missing := [name for name in _REQUIRED if name not in headings]:
        raise UnreadableList(
            f"the first line must name the columns {', '.join(missing)}, with commas between the columns"
        )
    if repeated := [name for name in COLUMNS if headings.count(name) > 1]:
        raise UnreadableList(f"the first line names the column {repeated[0]} more than once")
    return headings


def _number_rows(rows: "csv.DictReader[str]") -> Iterator[tuple[Mapping[str | None, Any], int]]:
    for row in rows:
        yield row, rows.line_num


def _parse_transfer(row: Mapping[str | None, Any], method: str) -> RailTransfer:
    if None in row:
        raise ValueError("it has more cells than the first line; put an amount such as 1,840.00 in quotation marks")
    if None in row.values():
        raise ValueError("it has fewer cells than the first line; is the file complete?")
    cells = {name: _read_cell(row, name) for name in COLUMNS}
    currency = cells["currency"].upper() or "USD"
    cents = _parse_amount(cells["amount"], currency)
    return RailTransfer(
        method=method,
        reference=_require(cells, "reference"),
        state=_parse_state(cells["state"]),
        amount_cents=cents,
        currency=currency,
        made_at=_parse_time(cells["paid_at"]),
        account=cells["account"] or None,
        key=cells["key"] or None,
        payout_id=_find_payout_id(cells),
        organization_id=_parse_id(cells, "organization_id"),
        affiliate_id=_parse_id(cells, "affiliate_id"),
        milestone_id=_parse_id(cells, "milestone_id"),
        natives=_parse_native_sums(cells["native"], cents),
        references=name_references(method, cells["reference"]),
    )


def _read_cell(row: Mapping[str | None, Any], name: str) -> str:
    text = (row.get(name) or "").strip().removeprefix("'")
    if len(text) > _MAX_CHARACTERS:
        raise ValueError(f"{name} is longer than {_MAX_CHARACTERS} characters")
    if not one_line.is_valid(text):
        raise ValueError(f"{name} has a line break or another control character")
    return text


def _require(cells: Mapping[str, str], name: str) -> str:
    if not cells[name]:
        raise ValueError(f"{name} is empty")
    return cells[name]


def _find_payout_id(cells: Mapping[str, str]) -> UUID | None:
    payout_id, key = _parse_id(cells, "payout_id"), cells["key"]
    parsed = parse_key(key)
    if key and parsed is None:
        raise ValueError(
            f"{key!r} is not a payout's key (payout:…:1); delete the line if the payment is not of this service"
        )
    if parsed is None:
        return payout_id
    if payout_id not in (None, parsed[0]):
        raise ValueError("key and payout_id name different payouts")
    return parsed[0]


def _parse_amount(text: str, currency: str) -> int:
    if currency not in currencies.EXPONENTS:
        raise ValueError(f"{currency!r} is not a supported currency")
    exponent = currencies.exponent(currency)
    parts = _AMOUNT.fullmatch(text)
    exact = Decimal(f"{parts[1].replace(',', '')}.{parts[2] or 0}").scaleb(exponent) if parts else Decimal(0)
    if exact != exact.to_integral_value() or not 0 < exact <= _MAX_CENTS:
        example = "1840.50" if exponent == 2 else "1840"
        raise ValueError(f"{text!r} is not an amount of {currency}; write it as {example}")
    return int(exact)


def _parse_state(text: str) -> TransferState:
    if text.lower() not in _STATES:
        raise ValueError(f"the state {text!r} must be one of {', '.join(TransferState)}")
    return _STATES[text.lower()]


def _parse_native_sums(text: str, cents: int) -> tuple[native_sums.NativeSum, ...] | None:
    sums = native_sums.from_text(text, total_cents=cents)
    if text and sums is None:
        raise ValueError(
            f"native {text!r} is invalid or does not add up to the amount; write EUR=1840/2000@0.92@2026-11-27"
        )
    return sums


def _parse_time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
        if len(text) <= _DATE_CHARACTERS:  # only a date: it was paid by the end of that day
            time = datetime.combine(time.date(), datetime.max.time())
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"paid_at {text!r} is not a time; write it as 2026-11-28T10:00Z") from None


def _parse_id(cells: Mapping[str, str], name: str) -> UUID | None:
    try:
        return UUID(cells[name]) if cells[name] else None
    except ValueError:
        raise ValueError(f"{name} {cells[name]!r} is not an id") from None
