"""Numbers as people type them."""

import pytest

from pages import form_values


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", None),
        ("  ", None),
        ("20", 20),
        (" 12.5 ", 12.5),
        ("12,5", 12.5),
        ("1,000", "1,000"),
        ("12,34.5", "12,34.5"),
        ("0,0005", 0.0005),
        ("1,234.5", 1234.5),
        ("1,234,567", 1234567),
        ("-3", -3),
        ("0.1", 0.1),
        ("a lot", "a lot"),
        ("20 %", "20 %"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
        ("9" * 40, "9" * 40),
        ("9" * 19, "9" * 19),
        ("1\0", "1\0"),
    ],
)
def test_number_is_parsed_or_kept_as_text(text, number):
    assert form_values.parse_number(text) == number


@pytest.mark.parametrize(
    ("text", "currency", "minor"),
    [
        ("", "USD", None),
        ("1234.5", "USD", 123_450),
        ("1,234.50", "USD", 123_450),
        ("12,5", "EUR", 1_250),
        ("0.1", "USD", 10),
        ("5", "JPY", 5),
        ("5", "KWD", 5_000),
        ("0.001", "USD", "0.001"),
        ("5.5", "JPY", "5.5"),
        ("five", "USD", "five"),
    ],
)
def test_amount_is_in_minor_units_of_its_currency(text, currency, minor):
    assert form_values.parse_amount(text, currency) == minor


def test_minor_units_are_formatted_as_typed_amounts():
    assert [
        form_values.format_amount(*pair)
        for pair in ((123_450, "USD"), (5, "JPY"), (5, "KWD"), (None, "USD"), (5, None))
    ] == [
        "1234.50",
        "5",
        "0.005",
        None,
        None,
    ]
