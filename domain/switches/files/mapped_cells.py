"""The cells of a row of source files by our fields. Amounts and times are read as in imports; nothing is guessed."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import unquote

from domain.imports import cells
from domain.imports.rows import BadRow
from domain.money import money
from domain.switches.files.file_fields import normalize_heading
from domain.switches.records import AffiliateRef
from domain.switches.sources import Collection
from domain.text import one_line

_MAX_TEXT: Final = 255
_MAX_EMAIL: Final = 320
_MAX_ID: Final = 300
_MAX_TOKEN: Final = 190
# An amount with separators of thousands: 1,020.50 or 1.049,00 or 1 049.
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:([.,'\u2019 \u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*(?:[.,][0-9]*)?")
_MAX_NUMBER: Final = 40
_NO_NUMBER: Final = re.compile(r"^[^0-9]+|[^0-9]+$")
#: Amounts beyond it do not count in totals either.
_MAX_CENTS: Final = 10**15
#: Fields that change while the row stays the same: a later export has them with other values.
_CHANGING: Final[Mapping[str, frozenset[str]]] = {
    Collection.Commissions: frozenset({"state", "refunded"}),
    Collection.Customers: frozenset({"firstPaidAt", "payments"}),
}


class AmountOutOfRange(ValueError):
    """An amount has more decimals than its currency, or is too large. `cents` is what counts of it in totals."""

    def __init__(self, cents: int = 0) -> None:
        super().__init__("the amount is out of range")
        self.cents = cents


@dataclass(frozen=True, slots=True)
class MappedCells:
    """The filled cells of a row by field, without blanks around, and the separator of the file's cells."""

    collection: str
    filled: Mapping[str, str]
    separator: str

    @classmethod
    def read(cls, collection: str, data: Mapping[str, Any], columns: Mapping[str, str]) -> "MappedCells":
        """Return the cells of a stored row. Raises BadRow for a row that could not be stored as cells."""
        if "fault" in data:
            raise BadRow(data["fault"])
        by_heading = data["cells"]
        by_field = {field: by_heading.get(normalize_heading(heading), "") for field, heading in columns.items()}
        return cls(collection, {field: cell for field, cell in by_field.items() if cell}, data.get("separator", ","))

    def text(self, field: str, *, max_characters: int = _MAX_TEXT) -> str | None:
        """Return a text as one line, None if the cell is empty. Raises BadRow for one that is too long."""
        cell = one_line.clean(self.filled.get(field, "")).strip()
        if len(cell) > max_characters:
            raise BadRow(f"long:{field}")
        return cell or None

    def needed_text(self, field: str, *, max_characters: int = _MAX_TEXT) -> str:
        """Return a text that the row must have. Raises BadRow."""
        cell = self.text(field, max_characters=max_characters)
        if cell is None:
            raise BadRow(f"missing:{field}")
        return cell

    def email(self, field: str) -> str | None:
        """Return an address as it is written."""
        return self.text(field, max_characters=_MAX_EMAIL)

    def token(self) -> str | None:
        """Return the token of a link, percent-decoded. Raises BadRow."""
        cell = self.filled.get("token")
        if cell is None:
            return None
        try:
            token = unquote(cell, errors="strict")
        except UnicodeDecodeError:
            token = cell
        if len(token) > _MAX_TOKEN or not token.isprintable():
            raise BadRow("characters:token")
        return token

    def time(self, field: str) -> datetime | None:
        """Return a time, None if the cell is empty. Raises BadRow."""
        cell = self.filled.get(field)
        if cell is None:
            return None
        try:
            return cells.parse_time(cell)
        except ValueError as error:
            raise BadRow(f"time:{field}") from error

    def count(self, field: str) -> int | None:
        """Return a whole number from 0 of at most nine digits, None if the cell is empty. Raises BadRow."""
        cell = self.filled.get(field)
        if cell is None:
            return None
        number = cells.parse_whole(cell)
        if number is None or not 0 <= number < 10**9:
            raise BadRow(f"whole:{field}")
        return number

    def cents(self, field: str) -> int | None:
        """Return an amount in minor units, None if the cell is empty. Raises BadRow, AmountOutOfRange."""
        cell = self.filled.get(field)
        if cell is None:
            return None
        number = cells.parse_whole(cells.drop_currency(cell))
        if number is None:
            raise BadRow(f"{_find_fault(cell, ',') or 'whole'}:{field}")
        return _check_range(number)

    def major(self, field: str, *, exponent: int | None) -> int | None:
        """Return an amount in major units as minor units, None if the cell is empty; `exponent` None: 0.

        Raises BadRow, AmountOutOfRange.
        """
        cell = self.filled.get(field)
        if cell is None:
            return None
        amount = cells.parse_decimal(cells.drop_currency(cell), separator=self.separator)
        if amount is None:
            raise BadRow(f"{_find_fault(cell, self.separator) or 'number'}:{field}")
        minor = 0 if exponent is None else cells.to_minor(amount, exponent)
        if minor is None:
            raise AmountOutOfRange
        return _check_range(minor)

    def affiliate_ref(self) -> AffiliateRef | None:
        """Return how the row names its affiliate; None if no such cell is filled."""
        # The token of a link is the link's own.
        token = None if self.collection == Collection.Links else self.token()
        id_, email = self.text("affiliateId", max_characters=_MAX_ID), self.email("affiliateEmail")
        return AffiliateRef(id=id_, email=email, token=token) if id_ or email or token else None

    def key(self) -> str:
        """Return the id of the row: its own, else a digest of its mapped cells. Raises BadRow.

        What changes while the row stays the same is left out: the state of a commission, the payments of a customer.
        """
        own = self.text("id", max_characters=_MAX_ID)
        if own is not None:
            return own
        left_out = _CHANGING.get(self.collection, frozenset())
        content = sorted((field, cell) for field, cell in self.filled.items() if field not in left_out)
        return f"sha256:{hashlib.sha256(json.dumps(content).encode()).hexdigest()}"


def _find_fault(cell: str, separator: str) -> str | None:
    """Return why an amount is not plain: `thousands`, `comma` or None; `separator` is that of the file's cells."""
    number = _NO_NUMBER.sub("", cell[:_MAX_NUMBER])
    if _GROUPED.fullmatch(number):
        return "thousands"
    return "comma" if separator == "," and re.fullmatch("[0-9]+,[0-9]*", number) else None


def _check_range(cents: int) -> int:
    if abs(cents) > money.MAX_AMOUNT_CENTS:
        raise AmountOutOfRange(cents if abs(cents) <= _MAX_CENTS else 0)
    return cents
