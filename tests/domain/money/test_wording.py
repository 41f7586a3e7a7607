"""How money and rates are displayed. Source: core spec, section 2 (minor units); the pages' interface, "Every page"."""

import pytest

from domain.money import currencies, wording


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (123_450, "USD", "1,234.50 USD"),
        (1_253_991, "USD", "12,539.91 USD"),
        (5, "EUR", "0.05 EUR"),
        (0, "EUR", "0.00 EUR"),
        (48_200, "JPY", "48,200 JPY"),
        (1_234_567, "KWD", "1,234.567 KWD"),
        (12_345, "RSD", "123.45 RSD"),
        (-4_210, "USD", "\u221242.10 USD"),
        (-5, "USD", "\u22120.05 USD"),
        (10**20, "USD", "1,000,000,000,000,000,000.00 USD"),
        (None, "USD", "–"),
    ],
)
def test_money_has_the_decimals_of_its_currency(minor, currency, text):
    assert wording.format_money(minor, currency) == text


@pytest.mark.parametrize("currency", currencies.EXPONENTS)
def test_formatted_amount_parses_back_to_the_minor_units(currency):
    for minor in (1, 99, 100_001, -123_456_789):
        digits = (
            wording.format_money(minor, currency).removesuffix(f" {currency}").replace(",", "").replace("\u2212", "-")
        )

        assert int(digits.replace(".", "")) == minor
        assert len(digits.partition(".")[2]) == currencies.exponent(currency)


@pytest.mark.parametrize(
    ("value", "currency", "text"),
    [
        ("7.5", "USD", "7.50 USD"),
        (7, "USD", "7.00 USD"),
        ("1200.000", "JPY", "1,200 JPY"),
        ("0.125", "EUR", "0.125 EUR"),
        ("100", "KWD", "100.000 KWD"),
        (None, "USD", "–"),
    ],
)
def test_rate_in_major_units_is_formatted_as_money(value, currency, text):
    assert wording.format_major(value, currency) == text


@pytest.mark.parametrize(
    ("value", "text"), [("12.50", "12.5"), ("20.0000", "20"), ("100", "100"), (0, "0"), ("0.25", "0.25")]
)
def test_percentage_has_no_trailing_zeros(value, text):
    assert wording.format_percent(value) == f"{text}\N{NO-BREAK SPACE}%"
    assert wording.format_percent(None) == "–"
