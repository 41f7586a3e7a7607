"""Reads a list of payments as CSV: what a rail that can't be asked, a bank or a brand says was paid.

Money follows from every cell, so whatever could be read in two ways is refused, with its line.
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
from domain.payouts import natives
from domain.restores.transfers import RailTransfer, TransferState, read_key, references_of
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
    """A list that can't be read, with the lines at fault."""


def read(text: Iterable[str], *, method: str) -> list[RailTransfer]:
    """Return the transfers of a list. Raises UnreadableList."""
    rows = csv.DictReader(text, strict=True)
    try:
        rows.fieldnames = _headings(rows.fieldnames or ())
        transfers, problems = [], []
        for row, line in _rows(rows):
            try:
                transfers.append(_transfer(row, method))
            except ValueError as error:
                problems.append(f"line {line}: {error}")
    except csv.Error as error:
        raise UnreadableList(f"line {rows.line_num}: {error}") from error
    names = Counter(one.reference for one in transfers)
    problems += [f"the reference {name} is there {times} times" for name, times in names.items() if times > 1]
    if problems:
        more = [f"and {len(problems) - _MAX_REPORTED} more"] if len(problems) > _MAX_REPORTED else []
        raise UnreadableList("; ".join([*problems[:_MAX_REPORTED], *more]))
    return transfers


def _headings(names: Iterable[str]) -> list[str]:
    headings = [re.sub(r"\W+", "_", name.strip().lower().lstrip("\ufeff")) for name in names]
    if missing := [name for name in _REQUIRED if name not in headings]:
        raise UnreadableList(
            f"the first line must name the columns {', '.join(missing)}, with commas between the columns"
        )
    if twice := [name for name in COLUMNS if headings.count(name) > 1]:
        raise UnreadableList(f"the first line names the column {twice[0]} more than once")
    return headings


def _rows(rows: "csv.DictReader[str]") -> Iterator[tuple[Mapping[str | None, Any], int]]:
    for row in rows:
        yield row, rows.line_num


def _transfer(row: Mapping[str | None, Any], method: str) -> RailTransfer:
    if None in row:
        raise ValueError("it has more cells than the first line; put an amount such as 1,840.00 in quotation marks")
    if None in row.values():
        raise ValueError("it has fewer cells than the first line; is the file complete?")
    cells = {name: _cell(row, name) for name in COLUMNS}
    currency = cells["currency"].upper() or "USD"
    cents = _cents(cells["amount"], currency)
    return RailTransfer(
        method=method,
        reference=_required(cells, "reference"),
        state=_state(cells["state"]),
        amount_cents=cents,
        currency=currency,
        made_at=_time(cells["paid_at"]),
        account=cells["account"] or None,
        key=cells["key"] or None,
        payout_id=_payout_id(cells),
        organization_id=_id(cells, "organization_id"),
        affiliate_id=_id(cells, "affiliate_id"),
        milestone_id=_id(cells, "milestone_id"),
        natives=_natives(cells["native"], cents),
        references=references_of(method, cells["reference"]),
    )


def _cell(row: Mapping[str | None, Any], name: str) -> str:
    text = (row.get(name) or "").strip().removeprefix("'")
    if len(text) > _MAX_CHARACTERS:
        raise ValueError(f"{name} is longer than {_MAX_CHARACTERS} characters")
    if not one_line.is_valid(text):
        raise ValueError(f"{name} has a line break or another control character")
    return text


def _required(cells: Mapping[str, str], name: str) -> str:
    if not cells[name]:
        raise ValueError(f"{name} is empty")
    return cells[name]


def _payout_id(cells: Mapping[str, str]) -> UUID | None:
    payout_id, key = _id(cells, "payout_id"), cells["key"]
    named = read_key(key)
    if key and named is None:
        raise ValueError(
            f"{key!r} is no key of a payout (payout:…:1); delete the line if the payment is none of this service's"
        )
    if named is None:
        return payout_id
    if payout_id not in (None, named[0]):
        raise ValueError("key and payout_id name different payouts")
    return named[0]


def _cents(typed: str, currency: str) -> int:
    if currency not in currencies.EXPONENTS:
        raise ValueError(f"{currency!r} is no currency that is known here")
    exponent = currencies.exponent(currency)
    parts = _AMOUNT.fullmatch(typed)
    exact = Decimal(f"{parts[1].replace(',', '')}.{parts[2] or 0}").scaleb(exponent) if parts else Decimal(0)
    if exact != exact.to_integral_value() or not 0 < exact <= _MAX_CENTS:
        example = "1840.50" if exponent == 2 else "1840"
        raise ValueError(f"{typed!r} is no amount of {currency}; write it as {example}")
    return int(exact)


def _state(typed: str) -> TransferState:
    if typed.lower() not in _STATES:
        raise ValueError(f"the state {typed!r} is none of {', '.join(TransferState)}")
    return _STATES[typed.lower()]


def _natives(typed: str, cents: int) -> tuple[natives.NativeSum, ...] | None:
    sums = natives.from_text(typed, total_cents=cents)
    if typed and sums is None:
        raise ValueError(
            f"native {typed!r} cannot be read, or does not add up to the amount; write EUR=1840/2000@0.92@2026-11-27"
        )
    return sums


def _time(typed: str) -> datetime:
    try:
        time = datetime.fromisoformat(typed)
        if len(typed) <= _DATE_CHARACTERS:  # a day alone: it was paid by the end of it
            time = datetime.combine(time.date(), datetime.max.time())
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"paid_at {typed!r} is no time; write it as 2026-11-28T10:00Z") from None


def _id(cells: Mapping[str, str], name: str) -> UUID | None:
    try:
        return UUID(cells[name]) if cells[name] else None
    except ValueError:
        raise ValueError(f"{name} {cells[name]!r} is no id") from None
