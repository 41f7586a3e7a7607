"""Values, amounts and rows of a source's JSON, whatever their shape."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from adapters.switches.base import UnreadableRow
from adapters.switches.reading import rows, values
from adapters.switches.reading.amounts import AmountReader
from domain.switches.sources import Collection

_NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("2026-01-01T00:00:00Z", _NEW_YEAR),
        ("2026-01-01T00:00:00.000Z", _NEW_YEAR),
        ("2026-01-01T02:00:00+02:00", _NEW_YEAR),
        ("2026-01-01 00:00:00", _NEW_YEAR),
        ("2026-01-01 00:00:00 UTC", _NEW_YEAR),
        ("2026-01-01", _NEW_YEAR),
        (1767225600, _NEW_YEAR),
        (1767225600.0, _NEW_YEAR),
        (Decimal("1767225600.0"), _NEW_YEAR),
        (Decimal("NaN"), None),
        ("1767225600", _NEW_YEAR),
        (1767225600000, _NEW_YEAR),
        ("1767225600000", _NEW_YEAR),
        ("0001-01-01T00:00:00+14:00", None),
        ("soon", None),
        ("", None),
        (0, None),
        (True, None),
        (float("inf"), None),
        (float("nan"), None),
        (10**30, None),
        (None, None),
        ({}, None),
    ],
    ids=str,
)
def test_times(raw, read):
    assert values.time({"at": raw}, "at") == read


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (" a ", "a"),
        ("a\x00b\nc", "ab c"),
        ("", None),
        ("  ", None),
        (7, "7"),
        (7.0, "7"),
        (Decimal("7.0"), "7"),
        (Decimal("7.5"), "7.5"),
        (True, None),
        (None, None),
        ([], None),
        ("x" * 600, "x" * 500),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_texts(raw, read):
    assert values.text({"word": raw}, "word") == read


def test_a_path_through_no_object_is_none():
    assert values.text({"a": "text"}, "a", "b") is None
    assert values.text(None, "a") is None
    assert values.text([1], "a") is None


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (3, 3),
        ("3", 3),
        (3.0, 3),
        (Decimal("3.0"), 3),
        (Decimal("3.5"), None),
        (Decimal("NaN"), None),
        (Decimal("1e999999"), None),
        (float("inf"), None),
        (-1, None),
        (3.5, None),
        (True, None),
        ("x", None),
        (1 << 70, None),
    ],
)
def test_counts(raw, read):
    assert values.count({"n": raw}, "n") == read


@pytest.mark.parametrize(("raw", "read"), [(0, 0), (100_000_000, 100_000_000), (100_000_001, None), ("x", None)])
def test_numbers_of_rows(raw, read):
    assert values.row_count({"n": raw}, "n") == read


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (12.5, Decimal("12.5")),
        ("12.5", Decimal("12.5")),
        *((raw, None) for raw in ("NaN", "Infinity", "x", True, "1e999999999", "-1e999999999")),
    ],
)
def test_numbers(raw, read):
    assert values.number({"n": raw}, "n") == read


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://shop.example.com/?ref=Anna%20Bell", ("ref", "Anna Bell")),
        ("https://shop.example.com/?other=1&tap_a=2", ("tap_a", "2")),
        ("https://shop.example.com/", None),
        ("https://[broken", None),
        (None, None),
    ],
)
def test_token_of_an_address(url, read):
    assert values.token_of_url(url, "ref", "tap_a") == read


@pytest.mark.parametrize(
    ("raw", "cents", "problem"),
    [
        (1000, 1000, None),
        ("1000", 1000, None),
        (1000.0, 1000, None),
        (-1000, -1000, None),
        (None, 0, None),
        ("", 0, None),
        (10.5, 0, "amount_out_of_range"),
        (10**12, 10**12, None),
        (10**12 + 1, 0, "amount_out_of_range"),
        (1e300, 0, "amount_out_of_range"),
        ("1e9999999", 0, "amount_out_of_range"),
        ("1e-9999999", 0, "amount_out_of_range"),
    ],
    ids=str,
)
def test_whole_minor_units(raw, cents, problem):
    reader = AmountReader()

    assert reader.cents({"n": raw}, "n") == cents
    assert reader.problem == problem


@pytest.mark.parametrize("raw", ["a", True, [], {}, "1,000", float("nan"), "Infinity"], ids=str)
def test_an_amount_that_is_no_number_is_unreadable(raw):
    with pytest.raises(UnreadableRow):
        AmountReader().cents({"n": raw}, "n")


@pytest.mark.parametrize(
    ("raw", "currency", "cents", "problem"),
    [
        (12.34, "USD", 1234, None),
        ("12.34", "USD", 1234, None),
        (0.1, "USD", 10, None),
        (1.1, "EUR", 110, None),
        (4.35, "USD", 435, None),
        (500, "JPY", 500, None),
        (1.234, "KWD", 1234, None),
        (12.345, "USD", 0, "amount_out_of_range"),
        (0.5, "JPY", 0, "amount_out_of_range"),
        (12.34, "BTC", 0, "unsupported_currency"),
        (12.34, None, 0, "unsupported_currency"),
    ],
    ids=str,
)
def test_decimals_become_minor_units_without_rounding(raw, currency, cents, problem):
    reader = AmountReader()

    assert reader.decimals({"n": raw}, "n", currency=currency) == cents
    assert reader.problem == problem


@pytest.mark.parametrize(
    ("raw", "code", "problem"),
    [("usd", "USD", None), ("ANG", "XCG", None), (None, None, None), ("points", "POINTS", "unsupported_currency")],
)
def test_currencies(raw, code, problem):
    reader = AmountReader()

    assert reader.currency({"code": raw}, "code") == code
    assert reader.problem == problem


@pytest.mark.parametrize("raw", [None, True, "", {}, []], ids=repr)
def test_a_row_without_an_id_has_one_of_its_content(raw):
    row = rows.build_row(Collection.Links, {"id": raw, "token": "a"})
    same = rows.build_row(Collection.Links, {"token": "a", "id": raw})
    other = rows.build_row(Collection.Links, {"id": raw, "token": "b"})

    assert row.source_id.startswith("content-")
    assert row.source_id == same.source_id != other.source_id


def test_ids_are_text_and_never_too_long():
    assert rows.read_id(12) == "12"
    assert rows.read_id(" a ") == "a"
    long = rows.read_id("x" * 256)
    assert long is not None
    assert len(long) < 100
    assert long != rows.read_id("x" * 257)


def test_rows_hold_only_what_json_columns_store():
    data = rows.make_storable({"a\x00": ["b\x00", float("nan"), float("inf"), "\ud800", 1.5, None, True]})

    assert data == {"a": ["b", None, None, "?", 1.5, None, True]}


def test_bottomless_nesting_is_cut():
    deep: list = []
    for _ in range(5000):
        deep = [deep]

    stored = rows.make_storable({"deep": deep})

    depth = 0
    inner = stored["deep"]
    while inner:
        inner, depth = inner[0], depth + 1
    assert depth <= 41


def test_mentions_need_an_id_and_repeat_once():
    partner = {"id": 5, "email": "a@example.com"}

    assert rows.build_mention({"email": "a@example.com"}) is None
    assert rows.build_mention("text") is None
    assert len(rows.drop_repeats([rows.build_mention(partner), None, rows.build_mention(partner)])) == 1
