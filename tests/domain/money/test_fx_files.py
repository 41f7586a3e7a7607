"""Files of reference rates: what is read out of them, and which line of a wrong one is named."""

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


def _bank(*days, head='<?xml version="1.0" encoding="UTF-8"?>'):
    """Return a file as the European Central Bank publishes it: (day, {currency: rate per euro})."""
    cubes = "".join(
        f"<Cube time='{on}'>\n{''.join(f'<Cube currency={c!r} rate={r!r}/>' for c, r in rates.items())}</Cube>\n"
        for on, rates in days
    )
    return (
        f'{head}\n<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"'
        ' xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><gesmes:subject>Reference rates</gesmes:subject>'
        f"<Cube>{cubes}</Cube></gesmes:Envelope>"
    )


def test_our_layout_is_units_per_dollar():
    found = _read(_csv(f"EUR,0.8,{DAY}", f"JPY,150.25,{DAY}", "EUR,0.79,2026-03-10"))

    assert found.rates == [
        PublishedRate("EUR", date(2026, 3, 9), Decimal("0.8")),
        PublishedRate("JPY", date(2026, 3, 9), Decimal("150.25")),
        PublishedRate("EUR", date(2026, 3, 10), Decimal("0.79")),
    ]
    assert found.skipped == []


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
def test_columns_line_ends_spaces_and_repetitions_do_not_matter(text):
    assert _read(text).rates == [PublishedRate("EUR", date(2026, 3, 9), Decimal("0.8"))]


def test_the_former_guilder_is_the_new_one():
    assert _read(_csv(f"ANG,1.79,{DAY}")).rates == [PublishedRate("XCG", date(2026, 3, 9), Decimal("1.79"))]


@pytest.mark.parametrize(("sent", "kept"), [("0.0000000000025", "2E-12"), ("0.0000000000035", "4E-12")])
def test_more_decimals_than_are_kept_are_rounded_half_to_even(sent, kept):
    assert _read(_csv(f"EUR,{sent},{DAY}")).rates[0].per_usd == Decimal(kept)


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
def test_one_wrong_row_refuses_the_file_and_is_named(row, why):
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
def test_what_is_no_file_of_rates_is_refused(content, why):
    with pytest.raises(BadRates, match=why):
        _read(content)


def test_a_central_banks_rates_per_euro_become_rates_per_dollar():
    found = _read(_bank(("2026-03-09", {"USD": "1.25", "JPY": "160", "CYP": "0.58", "BGN": "1.9558"})))

    assert found.rates == [
        PublishedRate("EUR", date(2026, 3, 9), Decimal("0.8")),
        PublishedRate("JPY", date(2026, 3, 9), Decimal("128")),
    ]
    assert found.skipped == ["BGN", "CYP"]


def test_the_history_has_many_days():
    found = _read(_bank((DAY, {"USD": "1.5"}), ("2026-03-06", {"USD": "1.2", "GBP": "0.9"})))

    assert [(rate.currency, str(rate.on), rate.per_usd) for rate in found.rates] == [
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
def test_one_wrong_rate_of_a_bank_refuses_its_file(rates, why):
    with pytest.raises(BadRates, match=f"^line [0-9]+: .*{why}"):
        _read(_bank((DAY, rates)))


def test_days_of_a_bank_are_looked_at_too():
    for text, why in [
        (_bank(("2026-03-11", {"USD": "1.1"})), "in the future"),
        (_bank(("today", {"USD": "1.1"})), "not a date"),
        (_bank((DAY, {"USD": "1.1"}), (DAY, {"USD": "1.2"})), "occurs twice"),
        (_bank((DAY, {"USD": "1.1"}), ("2026-03-06", {"USD": "1"}), (DAY, {"USD": "1.2"})), "another rate in line"),
        ("<Cube currency='USD' rate='1.1'/>", "lacks its currency"),
        (f"<Cube time='{DAY}'><Cube currency='USD'/></Cube>", "lacks its currency"),
    ]:
        with pytest.raises(BadRates, match=why):
            _read(text)


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE x [<!ENTITY a "1.1">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1/evil.dtd">',
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    ],
)
def test_a_document_type_is_refused_before_it_is_used(declared):
    with pytest.raises(BadRates, match="a document type is not allowed"):
        _read(_bank((DAY, {"USD": "1.1"}), head=declared))


@given(st.binary(max_size=200))
def test_whatever_is_sent_is_read_or_refused(content):
    for sent in (content, b"<" + content, b"currency,perUsd,date\n" + content):
        with contextlib.suppress(BadRates):
            assert _read(sent).rates


@given(rate=st.decimals("0.0001", "99999", places=4), dollar=st.decimals("0.5", "2", places=4))
def test_a_rate_per_dollar_is_exact_to_its_last_decimal(rate, dollar):
    euro, yen = _read(_bank((DAY, {"USD": f"{dollar:f}", "JPY": f"{rate:f}"}))).rates

    # Twelve decimals hold it to half a unit of the last one.
    assert abs(yen.per_usd * dollar - rate) <= Decimal("0.5e-12") * dollar
    assert abs(euro.per_usd * dollar - 1) <= Decimal("0.5e-12") * dollar
