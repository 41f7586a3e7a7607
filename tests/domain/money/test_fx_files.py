"""Reference rate files: the parsed rates, and the line named in an error."""

import contextlib
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.money import fx_files
from domain.money.fx_files import BadRates
from domain.money.valuation import PublishedRate

TODAY = date(2026, 3, 10)
DAY = "2026-03-09"


def _read(text, today=TODAY):
    return fx_files.read(text.encode() if isinstance(text, str) else text, today=today)


def _csv(*rows, header="currency,perUsd,date"):
    return "\n".join([header, *rows])


def _bank_xml(*days, head='<?xml version="1.0" encoding="UTF-8"?>'):
    """Return a file as the European Central Bank publishes it: (day, {currency: rate per euro})."""
    cubes = "".join(
        f"<Cube time='{day}'>\n{''.join(f'<Cube currency={c!r} rate={r!r}/>' for c, r in rates.items())}</Cube>\n"
        for day, rates in days
    )
    return (
        f'{head}\n<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"'
        ' xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><gesmes:subject>Reference rates</gesmes:subject>'
        f"<Cube>{cubes}</Cube></gesmes:Envelope>"
    )


def test_csv_rates_are_units_per_dollar():
    parsed = _read(_csv(f"EUR,0.8,{DAY}", f"JPY,150.25,{DAY}", "EUR,0.79,2026-03-10"))

    assert parsed.rates == [
        PublishedRate("EUR", date(2026, 3, 9), Decimal("0.8")),
        PublishedRate("JPY", date(2026, 3, 9), Decimal("150.25")),
        PublishedRate("EUR", date(2026, 3, 10), Decimal("0.79")),
    ]
    assert parsed.skipped == []


@pytest.mark.parametrize(
    "text",
    [
        f"date,currency,perUsd\n{DAY},EUR,0.8\n",
        f"currency,perUsd,date\r\nEUR,0.8,{DAY}\r\n",
        f"\ufeffcurrency,perUsd,date\n\nEUR,0.8,{DAY}\n\n",
        f" currency , perUsd , date \n EUR , 0.8 , {DAY} ",
        f'currency,perUsd,date\n"eur","0.80","{DAY}"',
        f"currency,perUsd,date\nEUR,0.8,{DAY}\nEUR,0.800,{DAY}\nUSD,1,{DAY}",
    ],
)
def test_column_order_line_ends_spaces_and_repeated_rows_are_ignored(text):
    assert _read(text).rates == [PublishedRate("EUR", date(2026, 3, 9), Decimal("0.8"))]


def test_former_guilder_is_read_as_the_new_one():
    assert _read(_csv(f"ANG,1.79,{DAY}")).rates == [PublishedRate("XCG", date(2026, 3, 9), Decimal("1.79"))]


@pytest.mark.parametrize(("text", "stored"), [("0.0000000000025", "2E-12"), ("0.0000000000035", "4E-12")])
def test_excess_decimals_are_rounded_half_to_even(text, stored):
    assert _read(_csv(f"EUR,{text},{DAY}")).rates[0].per_usd == Decimal(stored)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("EUR,0,D", "not a positive"),
        ("EUR,0.000,D", "not a positive"),
        ("EUR,-0.8,D", "not a positive"),
        ("EUR,+0.8,D", "not a positive"),
        ("EUR,NaN,D", "not a positive"),
        ("EUR,Infinity,D", "not a positive"),
        ("EUR,1e5,D", "not a positive"),
        ("EUR,1_000,D", "not a positive"),
        ("EUR,.8,D", "not a positive"),
        ("EUR,,D", "not a positive"),
        ('EUR,"0,8",D', "not a positive"),
        ("EUR,٠.٨,D", "not a positive"),
        ("EUR,1000000000000000000,D", "not a positive"),
        ("EUR,0.0000000000004,D", "0 when rounded"),
        ("XXX,1,D", "not a supported currency"),
        ("BTC,1,D", "not a supported currency"),
        ("EURO,1,D", "not a supported currency"),
        (",1,D", "not a supported currency"),
        ("USD,1.01,D", "1 by definition"),
        ("EUR,0.8", "2 cells"),
        ("EUR,0.8,D,x", "4 cells"),
        ("EUR,0.8,2026-03-11", "in the future"),
        ("EUR,0.8,9999-12-31", "in the future"),
        ("EUR,0.8,0001-01-01", "not a date"),
        ("EUR,0.8,1989-12-31", "not a date"),
        ("EUR,0.8,2026-02-30", "not a date"),
        ("EUR,0.8,20260309", "not a date"),
        ("EUR,0.8,09/03/2026", "not a date"),
        ("EUR,0.8,2026-03-09T00:00", "not a date"),
        ("EUR,0.8,", "not a date"),
        ("GBP,0.9,D", "another rate in line 2"),
        ('EUR,"0.8,D', "not CSV"),
    ],
)
def test_invalid_row_refuses_the_file_and_names_its_line(row, why):
    text = _csv(f"GBP,0.7,{DAY}", row.replace("D", DAY) if "USD" not in row else f"USD,1.01,{DAY}", f"CHF,0.9,{DAY}")

    with pytest.raises(BadRates, match=f"^line [34]: .*{why}"):
        _read(text)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "line 1: the columns"),
        (b"currency,perUsd\nEUR,0.8", "line 1: the columns"),
        (b"currency,perUsd,date,date\n", "line 1: the columns"),
        (b"Date,USD,JPY\n2026-03-09,1.1,160", "line 1: the columns"),
        (b"{}", "line 1: the columns"),
        (b"currency,perUsd,date\n", "the file contains no rate"),
        (b"currency,perUsd,date\nUSD,1,2026-03-09", "the file contains no rate"),
        (b"\xff\xfeE\x00", "not UTF-8"),
        (b"currency,perUsd,date\nEUR,0.8\x00,2026-03-09", "NUL"),
        (b"<html><p>Moved</p></html>", "the file contains no rate"),
        (b"<html><p>Moved<br></html>", "line 1: this is not XML"),
        (b"<Cube>", "line 1: this is not XML"),
    ],
)
def test_file_without_rates_is_refused(content, why):
    with pytest.raises(BadRates, match=why):
        _read(content)


def test_central_bank_rates_per_euro_become_rates_per_dollar():
    parsed = _read(_bank_xml(("2026-03-09", {"USD": "1.25", "JPY": "160", "CYP": "0.58", "BGN": "1.9558"})))

    assert parsed.rates == [
        PublishedRate("EUR", date(2026, 3, 9), Decimal("0.8")),
        PublishedRate("JPY", date(2026, 3, 9), Decimal("128")),
    ]
    assert parsed.skipped == ["BGN", "CYP"]


def test_bank_history_gives_rates_of_each_day():
    parsed = _read(_bank_xml((DAY, {"USD": "1.5"}), ("2026-03-06", {"USD": "1.2", "GBP": "0.9"})))

    assert [(rate.currency, str(rate.on), rate.per_usd) for rate in parsed.rates] == [
        ("EUR", DAY, Decimal("0.666666666667")),
        ("EUR", "2026-03-06", Decimal("0.833333333333")),
        ("GBP", "2026-03-06", Decimal("0.75")),
    ]


@pytest.mark.parametrize(
    ("rates", "why"),
    [
        ({"JPY": "160"}, "no USD"),
        ({"USD": "0"}, "not a positive"),
        ({"USD": "-1"}, "not a positive"),
        ({"USD": "1.1", "JPY": "N/A"}, "not a positive"),
        ({"USD": "1.1", "XYZ": "NaN"}, "not a positive"),
        ({"USD": "1.1", "JPY": ""}, "not a positive"),
    ],
)
def test_invalid_rate_in_bank_xml_refuses_the_file(rates, why):
    with pytest.raises(BadRates, match=f"^line [0-9]+: .*{why}"):
        _read(_bank_xml((DAY, rates)))


def test_invalid_day_in_bank_xml_refuses_the_file():
    for text, why in [
        (_bank_xml(("2026-03-11", {"USD": "1.1"})), "in the future"),
        (_bank_xml(("today", {"USD": "1.1"})), "not a date"),
        (_bank_xml((DAY, {"USD": "1.1"}), (DAY, {"USD": "1.2"})), "occurs twice"),
        (_bank_xml((DAY, {"USD": "1.1"}), ("2026-03-06", {"USD": "1"}), (DAY, {"USD": "1.2"})), "another rate in line"),
        ("<Cube currency='USD' rate='1.1'/>", "lacks its currency"),
        (f"<Cube time='{DAY}'><Cube currency='USD'/></Cube>", "lacks its currency"),
    ]:
        with pytest.raises(BadRates, match=why):
            _read(text)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE x [<!ENTITY a "1.1">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1/evil.dtd">',
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    ],
)
def test_document_type_declaration_is_refused(doctype):
    with pytest.raises(BadRates, match="a document type is not allowed"):
        _read(_bank_xml((DAY, {"USD": "1.1"}), head=doctype))


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_parsed_or_refused(content):
    for candidate in (content, b"<" + content, b"currency,perUsd,date\n" + content):
        with contextlib.suppress(BadRates):
            assert _read(candidate).rates


@given(rate=st.decimals("0.0001", "99999", places=4), dollar=st.decimals("0.5", "2", places=4))
def test_rate_per_dollar_is_exact_to_its_last_decimal(rate, dollar):
    euro, yen = _read(_bank_xml((DAY, {"USD": f"{dollar:f}", "JPY": f"{rate:f}"}))).rates

    # Rates have twelve decimals, so the error is at most half a unit of the last.
    assert abs(yen.per_usd * dollar - rate) <= Decimal("0.5e-12") * dollar
    assert abs(euro.per_usd * dollar - 1) <= Decimal("0.5e-12") * dollar
