"""Cells of files: amounts with signs of currencies, whole numbers and times; nothing is guessed or rounded."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from domain.imports import cells


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("49.00", "49.00"),
        ("$49.00", "49.00"),
        ("49.00 USD", "49.00"),
        ("-5", "-5"),
        ("-$5.00", "-5.00"),
        ("$-5.00", "-5.00"),
        ("-$-5.00", "-$-5.00"),
        ("(5.00)", "(5.00)"),
        ("5.00-", "5.00-"),
        ("five", "five"),
    ],
)
def test_currency_around_an_amount_is_dropped(text, plain):
    assert cells.drop_currency(text) == plain


@pytest.mark.parametrize(
    ("text", "separator", "number"),
    [
        ("1234.50", ",", Decimal("1234.50")),
        ("1234,50", ";", Decimal("1234.50")),
        ("1234,50", "\t", Decimal("1234.50")),
        ("1234,50", ",", None),
        ("1,234.50", ";", None),
        ("1 234", ",", None),
        ("1e3", ",", None),
        ("NaN", ",", None),
        ("٣", ",", None),
        ("", ",", None),
        ("1" * 16, ",", None),
    ],
)
def test_only_plain_numbers_are_read(text, separator, number):
    assert cells.parse_decimal(text, separator=separator) == number


def test_amount_with_more_decimals_than_its_currency_has_no_minor_units():
    assert cells.to_minor(Decimal("49.10"), 2) == 4910
    assert cells.to_minor(Decimal("49.100"), 2) == 4910
    assert cells.to_minor(Decimal("49.001"), 2) is None
    assert cells.to_minor(Decimal("49.5"), 0) is None
    assert cells.to_minor(Decimal("999999999999999.0123456789"), 3) is None


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2024-05-01 12:00:00", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01T12:00:00+02:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01 12:00:00 UTC", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01 12:00:00 -0100", datetime(2024, 5, 1, 13, tzinfo=UTC)),
    ],
)
def test_time_without_a_zone_is_utc(text, at):
    assert cells.parse_time(text) == at


@pytest.mark.parametrize("text", ["5/1/2024", "01.05.2024", "yesterday", "0001-01-01T00:00:00+14:00", "2" * 65, ""])
def test_ambiguous_or_impossible_time_is_refused(text):
    with pytest.raises(ValueError, match=r"time|isoformat"):
        cells.parse_time(text)
