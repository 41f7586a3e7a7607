"""Parses files of reference rates: the whole file or nothing, with the line of the fault.

Two formats. Ours is CSV with the columns currency, perUsd and date, in any order: major units of the currency per 1
USD. The other is the XML of the European Central Bank, for a day or for its whole history: major units per 1 euro,
converted exactly into units per dollar and then rounded half to even to 12 decimals, the stored precision.
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
    """The file is invalid; the message names the line (1 is the first) and its fault."""

    def __init__(self, line: int | None, why: str) -> None:
        super().__init__(f"line {line}: {why}" if line else why)


@dataclass(frozen=True, slots=True)
class RateFile:
    """The rates of a file, and the unsupported currency codes in a bank's file."""

    rates: list[PublishedRate]
    skipped: list[str] = field(default_factory=list)


def read(content: bytes, *, today: date) -> RateFile:
    """Return the rates of a file in either format.

    Raises BadRates: not UTF-8, another format, a number that is malformed or not positive, an unsupported currency (in
    our format), a date that is malformed or after `today`, two rates for one currency and day, no rate at all.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRates(None, "the file is not UTF-8 text") from None
    if "\x00" in text:
        raise BadRates(None, "the file contains NUL characters: it is not text")
    parse = _parse_bank_file if text.lstrip().startswith("<") else _parse_own_file
    file = parse(text, today)
    if not file.rates:
        raise BadRates(None, "the file contains no rate")
    return file


def _parse_own_file(text: str, today: date) -> RateFile:
    rows = csv.reader(_limit_lines(text), strict=True)
    collector = _RateCollector(today)
    try:
        header = [name.strip() for name in next(rows, [])]
        if set(header) != _COLUMNS or len(header) != len(_COLUMNS):
            raise BadRates(1, "the columns must be currency, perUsd and date")
        for row in rows:
            if rows.line_num % _LINES_PER_CHECK == 0:
                deadline.check()
            if row:
                collector.add(rows.line_num, *_parse_cells(rows.line_num, header, row))
    except csv.Error as error:
        raise BadRates(rows.line_num, f"this is not CSV ({error})") from None
    return RateFile(collector.rates())


def _limit_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text. Raises BadRates for one too long to be split into cells."""
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if len(line) > _MAX_LINE_CHARACTERS:
            raise BadRates(number, f"it is longer than {_MAX_LINE_CHARACTERS} characters")
        yield line


def _parse_cells(line: int, header: list[str], row: list[str]) -> tuple[str, Fraction, str]:
    if len(row) != len(header):
        raise BadRates(line, f"there are {len(row)} cells instead of {len(header)}")
    cells = dict(zip(header, (cell.strip() for cell in row), strict=True))
    currency = currencies.normalize(cells["currency"])
    if currency is None:
        raise BadRates(line, f"{cells['currency'][:20]!r} is not a supported currency")
    per_usd = _parse_number(line, cells["perUsd"])
    if currency == "USD" and per_usd != 1:
        raise BadRates(line, "USD is 1 by definition")
    return currency, per_usd, cells["date"]


@dataclass(frozen=True, slots=True)
class _PerEuro:
    line: int
    on: str
    currency: str
    rate: str


def _parse_bank_file(text: str, today: date) -> RateFile:
    collector, skipped = _RateCollector(today), set[str]()
    for day in _group_by_day(_parse_elements(text)):
        per_euro = {rate.currency: (rate.line, _parse_number(rate.line, rate.rate)) for rate in day}
        if len(per_euro) != len(day):
            raise BadRates(day[0].line, f"a currency occurs twice on {day[0].on[:20]}")
        if "USD" not in per_euro:
            raise BadRates(day[0].line, f"there is no USD on {day[0].on[:20]} to convert the others")
        dollar = per_euro["USD"][1]
        collector.add(day[0].line, "EUR", 1 / dollar, day[0].on)
        for code, (line, rate) in per_euro.items():
            currency = currencies.normalize(code)
            if currency is None:
                skipped.add(code[:3])
            elif currency != "EUR":
                collector.add(line, currency, rate / dollar, day[0].on)
    return RateFile(collector.rates(), sorted(skipped))


def _group_by_day(elements: Iterable[_PerEuro]) -> Iterator[list[_PerEuro]]:
    """Yield the rates day by day; a day that occurs again later is another group, which `_RateCollector` compares."""
    day: list[_PerEuro] = []
    for element in elements:
        if day and element.on != day[0].on:
            yield day
            day = []
        day.append(element)
    if day:
        yield day


def _parse_elements(text: str) -> list[_PerEuro]:
    """Return every `Cube` with a rate. A document type is refused before any of its declarations is used."""
    elements: list[_PerEuro] = []
    on: list[str] = []
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")

    def begin(name: str, attributes: dict[str, str]) -> None:
        if name.rpartition(" ")[2] != "Cube":
            return
        if len(elements) % _LINES_PER_CHECK == 0:
            deadline.check()
        if "time" in attributes:
            on[:] = [attributes["time"]]
        elif "currency" in attributes or "rate" in attributes:
            line = parser.CurrentLineNumber
            if not on or {"currency", "rate"} - attributes.keys():
                raise BadRates(line, "a rate lacks its currency, its number or its day")
            elements.append(_PerEuro(line, on[0], attributes["currency"], attributes["rate"]))

    def refuse(*_: object) -> None:
        raise BadRates(parser.CurrentLineNumber, "a document type is not allowed")

    parser.StartElementHandler = begin
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text.lstrip().encode(), True)
    except expat.ExpatError as error:
        raise BadRates(error.lineno, f"this is not XML ({expat.ErrorString(error.code)})") from None
    return elements


def _parse_number(line: int, text: str) -> Fraction:
    if not _NUMBER.fullmatch(text) or not Fraction(text):
        raise BadRates(line, f"{text[:40]!r} is not a positive decimal number")
    return Fraction(text)


class _RateCollector:
    """The rates so far, each with its line."""

    def __init__(self, today: date) -> None:
        self._today = today
        self._rates: dict[tuple[str, date], tuple[int, Decimal]] = {}

    def add(self, line: int, currency: str, per_usd: Fraction, on: str) -> None:
        day, rate = self._parse_day(line, on), _to_stored_decimal(per_usd)
        if rate <= 0:
            raise BadRates(line, f"the rate is 0 when rounded to {DECIMALS} decimals")
        first_line, first_rate = self._rates.setdefault((currency, day), (line, rate))
        if first_rate != rate:
            raise BadRates(line, f"{currency} of {day} has another rate in line {first_line}")

    def rates(self) -> list[PublishedRate]:
        """Return all rates; that of the dollar is 1 and left out."""
        return [
            PublishedRate(currency, day, rate)
            for (currency, day), (_, rate) in self._rates.items()
            if currency != "USD"
        ]

    def _parse_day(self, line: int, text: str) -> date:
        try:
            day = date.fromisoformat(text) if _DATE.fullmatch(text) else None
        except ValueError:
            day = None
        if day is None or day < _EARLIEST:
            raise BadRates(line, f"{text[:20]!r} is not a date such as 2026-03-31, from {_EARLIEST} on")
        if day > self._today:
            raise BadRates(line, f"{day} is in the future; today is {self._today} (UTC)")
        return day


def _to_stored_decimal(per_usd: Fraction) -> Decimal:
    units = money.divide_half_even(per_usd.numerator * 10**DECIMALS, per_usd.denominator)
    with localcontext(prec=60, rounding=ROUND_HALF_EVEN):
        return Decimal(units).scaleb(-DECIMALS)
