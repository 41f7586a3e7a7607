"""How the columns and words of another service's file become ours.

A mapping names a column of the file for each of our fields, and one of our words for each word of theirs. Columns that
it does not name are ignored, since an export has many that are not imported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from domain import statuses
from domain.imports import cells

#: The word for rows that are not imported.
LEAVE_OUT: Final = "leave_out"
#: Our words for the state of a sale; the column is `paid`.
PAID, UNPAID = "paid", "unpaid"
SALE_WORDS: Final = (PAID, UNPAID, LEAVE_OUT)
PERSON_WORDS: Final = (*(status.value for status in statuses.AffiliateStatus), LEAVE_OUT)
#: The parts of a name, which become `fullName`.
NAME_PARTS: Final = ("firstName", "lastName")


class LeftOut(Exception):
    """The row has a word whose rows are not imported."""


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Columns of a file by our fields, our words by theirs (in lower case), and the currency of rows without one."""

    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    currency: str | None = None

    def find_positions(self, header: Sequence[str]) -> dict[str, int]:
        """Return the position of each field in a header. Raises ValueError with the message for the user."""
        by_heading = {name.casefold(): position for position, name in reversed(list(enumerate(header)))}
        missing = [heading for heading in self.columns.values() if heading.strip().casefold() not in by_heading]
        if missing:
            raise ValueError(f"The file has no column {missing[0][:40]!r}.")
        headings = [name.casefold() for name in header]
        if repeated := [name for name in self.columns.values() if headings.count(name.strip().casefold()) > 1]:
            raise ValueError(f"The file has several columns {repeated[0][:40]!r}. Rename or delete all but one.")
        return {name: by_heading[heading.strip().casefold()] for name, heading in self.columns.items()}

    def to_person(self, filled: Mapping[str, str]) -> dict[str, str]:
        """Return an affiliate's cells with our words. Raises LeftOut."""
        row = {name: cell for name, cell in filled.items() if name not in NAME_PARTS}
        parts = [filled[name] for name in NAME_PARTS if name in filled]
        if parts and "fullName" not in row:
            row["fullName"] = " ".join(parts)
        if "status" in row:
            row["status"] = self._translate(row["status"])
        return row

    def to_sale(self, filled: Mapping[str, str]) -> dict[str, str]:
        """Return a sale's cells with our words, amounts without signs, and a currency. Raises LeftOut.

        A file without a column of sale amounts, as some services export commissions, has amounts of 0.
        """
        row = dict(filled)
        for name in ("amount", "commission", "amountCents", "commissionCents"):
            if name in row:
                row[name] = cells.drop_currency(row[name])
        if not {"amount", "amountCents"} & set(self.columns):
            row["amountCents"] = "0"
        if self.currency and "currency" not in row:
            row["currency"] = self.currency
        if "paid" in row:
            word = self._translate(row["paid"])
            row["paid"] = {PAID: "true", UNPAID: "false"}.get(word, word)
        return row

    def _translate(self, word: str) -> str:
        ours = self.words.get(word.strip().casefold(), word)
        if ours == LEAVE_OUT:
            raise LeftOut
        return ours
