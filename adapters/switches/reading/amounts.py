"""Reads amounts of money of a source's row into whole minor units, without rounding."""

from decimal import Decimal
from typing import Any

from adapters.switches.base import UnreadableRow
from adapters.switches.reading import values
from domain.money import currencies, money
from domain.switches.reasons import LeftOutReason


class AmountReader:
    """Reads the amounts of one row. A missing amount is 0; `problem` says why the row is left out, if one is unusable.

    A row whose amount is no number raises UnreadableRow.
    """

    def __init__(self) -> None:
        self.problem: LeftOutReason | None = None

    def currency(self, value: Any, *path: str) -> str | None:
        """Return the supported code at a path; None if it is missing. Another word is returned, with a problem."""
        word = values.text(value, *path)
        return None if word is None else self.check_currency(word)

    def check_currency(self, word: str) -> str:
        """Return the supported code that a word names, or the word in upper case with a problem."""
        code = currencies.normalize(word)
        if code is None:
            self._refuse(LeftOutReason.UnsupportedCurrency)
        return code or word.upper()[:10]

    def cents(self, value: Any, *path: str) -> int:
        """Return whole minor units at a path, also as text."""
        return self._to_minor_units(_decimal(value, *path))

    def decimals(self, value: Any, *path: str, currency: str | None) -> int:
        """Return the minor units of major units at a path. Without a supported currency it is 0 with a problem."""
        major = _decimal(value, *path)
        if currency is None or currency not in currencies.EXPONENTS:
            self._refuse(LeftOutReason.UnsupportedCurrency)
            return 0
        return self._to_minor_units(major.scaleb(currencies.exponent(currency)))

    def _to_minor_units(self, minor: Decimal) -> int:
        if minor != minor.to_integral_value() or abs(minor) > money.MAX_AMOUNT_CENTS:
            self._refuse(LeftOutReason.AmountOutOfRange)
            return 0
        return int(minor)

    def _refuse(self, reason: LeftOutReason) -> None:
        self.problem = self.problem or reason


def _decimal(value: Any, *path: str) -> Decimal:
    raw = values.get(value, *path)
    if raw is None or raw == "":
        return Decimal(0)
    try:
        # The shortest text of a float is what the source wrote.
        read = None if isinstance(raw, bool) else Decimal(str(raw).strip())
    except ArithmeticError:
        read = None
    if read is None or not read.is_finite():
        raise UnreadableRow(f"{'.'.join(path)} is not an amount")
    # An absurd exponent would make the number expensive to compute with; either way it is out of range.
    return Decimal(10) ** 30 if abs(read.adjusted()) > 30 and read else read
