"""Reads a list of payments as CSV: what a rail that can't be asked, a bank or a brand says was paid."""

import csv
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from domain.money import currencies
from domain.payouts import natives
from domain.payouts.transfers import BY_HAND, REFERENCES, Method
from domain.restores.transfers import RailTransfer, TransferState, read_key

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


class UnreadableList(ValueError):
    """A list that can't be read, with the line at fault."""


def read(text: Iterable[str], *, method: str) -> list[RailTransfer]:
    """Return the transfers of a list. Raises UnreadableList."""
    rows = csv.DictReader(text)
    headings = [re.sub(r"\W+", "_", name.strip().lower().lstrip("\ufeff")) for name in rows.fieldnames or ()]
    if missing := [name for name in _REQUIRED if name not in headings]:
        raise UnreadableList(f"the first line must name the columns {', '.join(missing)}")
    rows.fieldnames = headings
    transfers = [_transfer(row, method, rows.line_num) for row in rows]
    references = [one.reference for one in transfers]
    if twice := next((name for name in references if references.count(name) > 1), None):
        raise UnreadableList(f"the reference {twice} is there twice")
    return transfers


def _transfer(row: Mapping[str, Any], method: str, line: int) -> RailTransfer:
    cells = {name: (row.get(name) or "").strip().lstrip("'") for name in COLUMNS}
    key = cells["key"] or None
    try:
        named = read_key(key)
        currency = cells["currency"].upper() or "USD"
        cents = _cents(cells["amount"], currency)
        return RailTransfer(
            method=method,
            reference=_required(cells, "reference"),
            state=_STATES[cells["state"]],
            amount_cents=cents,
            currency=currency,
            made_at=_time(cells["paid_at"]),
            account=cells["account"] or None,
            key=key,
            payout_id=_id(cells["payout_id"]) or (named[0] if named else None),
            organization_id=_id(cells["organization_id"]),
            affiliate_id=_id(cells["affiliate_id"]),
            milestone_id=_id(cells["milestone_id"]),
            natives=natives.from_text(cells["native"], total_cents=cents),
            references=dict.fromkeys(_names(method), cells["reference"]),
        )
    except (ValueError, KeyError, InvalidOperation) as error:
        raise UnreadableList(f"line {line}: {error}") from error


def _names(method: str) -> tuple[str, ...]:
    return ("externalTransactionId",) if method == BY_HAND else REFERENCES[Method(method)]


def _required(cells: Mapping[str, str], name: str) -> str:
    if not cells[name]:
        raise ValueError(f"{name} is empty")
    return cells[name]


def _cents(typed: str, currency: str) -> int:
    exact = Decimal(typed.replace(",", "")).scaleb(currencies.exponent(currency))
    if exact != exact.to_integral_value() or exact <= 0:
        raise ValueError(f"{typed!r} is no amount of {currency}")
    return int(exact)


def _time(typed: str) -> datetime:
    found = datetime.fromisoformat(typed)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _id(typed: str) -> UUID | None:
    return UUID(typed) if typed else None
