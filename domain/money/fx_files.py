"""Reads files of reference rates: all of one or nothing, with the line of what is wrong.

Two layouts. Ours is CSV with the columns currency, perUsd and date, in any order: major units of the currency per 1
USD. The other is the XML of the European Central Bank, for a day or for its whole history: major units per 1 euro,
turned into units per dollar exactly and then rounded half to even to 12 decimals, which is how rates are kept.
Source: core spec, "Preview response fields" (native major units per 1 USD).
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from xml.parsers import expat

from domain import deadline
from domain.money import currencies, money
from domain.money.valuation import PublishedRate

DECIMALS = 12
_LINES_PER_CHECK = 256
_MAX_LINE_CHARACTERS = 1_000
_EARLIEST = date(1990, 1, 1)
_COLUMNS = {"currency", "perUsd", "date"}
# Plain digits: no exponent, no NaN and no Infinity.
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,30})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class BadRates(ValueError):
    """A file that cannot be used; the message names the line (1 is the first) and what is wrong there."""

    def __init__(self, line: int | None, why: str) -> None:
        super().__init__(f"line {line}: {why}" if line else why)


@dataclass(frozen=True, slots=True)
class RateFile:
    """The rates of a file, and the codes that a bank's file names and this service does not support."""

    rates: list[PublishedRate]
    skipped: list[str] = field(default_factory=list)


def read(content: bytes, *, today: date) -> RateFile:
    """Return the rates of a file in either layout.

    Raises BadRates: not UTF-8, another layout, a number that is malformed or not positive, a currency that is not
    supported (in ours), a date that is malformed or after `today`, two rates for one currency and day, no rate at all.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRates(None, "the file is not UTF-8 text") from None
    if "\x00" in text:
        raise BadRates(None, "the file holds NUL characters: it is not text")
    read_layout = _bank if text.lstrip().startswith("<") else _own
    found = read_layout(text, today)
    if not found.rates:
        raise BadRates(None, "the file holds no rate")
    return found


def _own(text: str, today: date) -> RateFile:
    rows = csv.reader(_short_lines(text), strict=True)
    kept = _Kept(today)
    try:
        header = [name.strip() for name in next(rows, [])]
        if set(header) != _COLUMNS or len(header) != len(_COLUMNS):
            raise BadRates(1, "the columns must be currency, perUsd and date")
        for row in rows:
            if rows.line_num % _LINES_PER_CHECK == 0:
                deadline.check()
            if row:
                kept.take(rows.line_num, *_cells(rows.line_num, header, row))
    except csv.Error as error:
        raise BadRates(rows.line_num, f"this is not CSV ({error})") from None
    return RateFile(kept.rates())


def _short_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text. Raises BadRates before one is split into cells that is longer than three of them."""
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if len(line) > _MAX_LINE_CHARACTERS:
            raise BadRates(number, f"it is longer than {_MAX_LINE_CHARACTERS} characters")
        yield line


def _cells(line: int, header: list[str], row: list[str]) -> tuple[str, Fraction, str]:
    if len(row) != len(header):
        raise BadRates(line, f"there are {len(row)} cells and not {len(header)}")
    cells = dict(zip(header, (cell.strip() for cell in row), strict=True))
    currency = currencies.normalize(cells["currency"])
    if currency is None:
        raise BadRates(line, f"{cells['currency'][:20]!r} is not a supported currency")
    per_usd = _number(line, cells["perUsd"])
    if currency == "USD" and per_usd != 1:
        raise BadRates(line, "USD is 1 by definition")
    return currency, per_usd, cells["date"]


@dataclass(frozen=True, slots=True)
class _PerEuro:
    line: int
    on: str
    currency: str
    rate: str


def _bank(text: str, today: date) -> RateFile:
    kept, skipped = _Kept(today), set[str]()
    for day in _days(_elements(text)):
        per_euro = {rate.currency: (rate.line, _number(rate.line, rate.rate)) for rate in day}
        if len(per_euro) != len(day):
            raise BadRates(day[0].line, f"a currency stands twice on {day[0].on[:20]}")
        if "USD" not in per_euro:
            raise BadRates(day[0].line, f"there is no USD on {day[0].on[:20]}, by which the others are turned")
        dollar = per_euro["USD"][1]
        kept.take(day[0].line, "EUR", 1 / dollar, day[0].on)
        for code, (line, rate) in per_euro.items():
            currency = currencies.normalize(code)
            if currency is None:
                skipped.add(code[:3])
            elif currency != "EUR":
                kept.take(line, currency, rate / dollar, day[0].on)
    return RateFile(kept.rates(), sorted(skipped))


def _days(elements: Iterable[_PerEuro]) -> Iterator[list[_PerEuro]]:
    """Return the rates day by day; a day that comes again later is a day of its own, which `_Kept` compares."""
    day: list[_PerEuro] = []
    for element in elements:
        if day and element.on != day[0].on:
            yield day
            day = []
        day.append(element)
    if day:
        yield day


def _elements(text: str) -> list[_PerEuro]:
    """Return every `Cube` with a rate. A document type is refused before anything that it declares could be used."""
    found: list[_PerEuro] = []
    on: list[str] = []
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")

    def begin(name: str, attributes: dict[str, str]) -> None:
        if name.rpartition(" ")[2] != "Cube":
            return
        if len(found) % _LINES_PER_CHECK == 0:
            deadline.check()
        if "time" in attributes:
            on[:] = [attributes["time"]]
        elif "currency" in attributes or "rate" in attributes:
            line = parser.CurrentLineNumber
            if not on or {"currency", "rate"} - attributes.keys():
                raise BadRates(line, "a rate lacks its currency, its number or its day")
            found.append(_PerEuro(line, on[0], attributes["currency"], attributes["rate"]))

    def refuse(*_: object) -> None:
        raise BadRates(parser.CurrentLineNumber, "a document type is not allowed")

    parser.StartElementHandler = begin
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text.lstrip().encode(), True)
    except expat.ExpatError as error:
        raise BadRates(error.lineno, f"this is not XML ({expat.ErrorString(error.code)})") from None
    return found


def _number(line: int, text: str) -> Fraction:
    if not _NUMBER.fullmatch(text) or not Fraction(text):
        raise BadRates(line, f"{text[:40]!r} is not a positive decimal number")
    return Fraction(text)


class _Kept:
    """The rates so far, each with the line that it came from."""

    def __init__(self, today: date) -> None:
        self._today = today
        self._found: dict[tuple[str, date], tuple[int, Decimal]] = {}

    def take(self, line: int, currency: str, per_usd: Fraction, on: str) -> None:
        day, rate = self._day(line, on), _rounded(per_usd)
        if rate <= 0:
            raise BadRates(line, f"the rate is 0 when rounded to {DECIMALS} decimals")
        before, known = self._found.setdefault((currency, day), (line, rate))
        if known != rate:
            raise BadRates(line, f"{currency} of {day} has another rate in line {before}")

    def rates(self) -> list[PublishedRate]:
        """Return them all; the dollar is 1 without being kept."""
        return [
            PublishedRate(currency, day, rate)
            for (currency, day), (_, rate) in self._found.items()
            if currency != "USD"
        ]

    def _day(self, line: int, text: str) -> date:
        try:
            day = date.fromisoformat(text) if _DATE.fullmatch(text) else None
        except ValueError:
            day = None
        if day is None or day < _EARLIEST:
            raise BadRates(line, f"{text[:20]!r} is not a date such as 2026-03-31, from {_EARLIEST} on")
        if day > self._today:
            raise BadRates(line, f"{day} is in the future; today is {self._today} (UTC)")
        return day


def _rounded(per_usd: Fraction) -> Decimal:
    units = money.divide_half_even(per_usd.numerator * 10**DECIMALS, per_usd.denominator)
    with localcontext(prec=60, rounding=ROUND_HALF_EVEN):
        return Decimal(units).scaleb(-DECIMALS)
