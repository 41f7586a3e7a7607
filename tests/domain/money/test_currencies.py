"""The allowlist is the spec's, the exponents are ISO 4217's."""

import pytest
from iso4217 import Currency

from domain.money import currencies


def test_allowlist_has_the_137_codes_that_are_enumerated() -> None:
    assert len(currencies.EXPONENTS) == 137


def test_every_exponent_is_the_one_of_iso_4217() -> None:
    listed = {code: Currency(code).exponent for code in currencies.EXPONENTS}

    assert dict(currencies.EXPONENTS) == listed


def test_three_decimal_currencies_are_five() -> None:
    three = {code for code, exponent in currencies.EXPONENTS.items() if exponent == 3}

    assert three == {"BHD", "JOD", "KWD", "OMR", "TND"}


@pytest.mark.parametrize(
    ("code", "exponent"),
    [
        ("USD", 2),
        ("MGA", 2),
        ("HUF", 2),
        ("TWD", 2),
        ("UYU", 2),
        ("XCG", 2),
        ("JPY", 0),
        ("KRW", 0),
        ("VND", 0),
        ("CLP", 0),
        ("ISK", 0),
        ("UGX", 0),
        ("XAF", 0),
        ("XOF", 0),
        ("XPF", 0),
        ("KWD", 3),
    ],
)
def test_exponent_counts_the_decimals(code: str, exponent: int) -> None:
    assert currencies.exponent(code) == exponent


@pytest.mark.parametrize("code", ["usd", "ANG", "XXX", ""])
def test_exponent_refuses_a_text_that_is_not_a_supported_code(code: str) -> None:
    with pytest.raises(ValueError, match="unsupported currency"):
        currencies.exponent(code)


@pytest.mark.parametrize(
    ("text", "code"),
    [("USD", "USD"), ("usd", "USD"), ("eUr", "EUR"), (" gbp\n", "GBP"), ("ANG", "XCG"), ("ang", "XCG"), ("XCG", "XCG")],
)
def test_supported_code_is_recognized_in_any_case(text: str, code: str) -> None:
    assert currencies.normalize(text) == code


@pytest.mark.parametrize(
    "text",
    ["", "   ", "US", "USDT", "EURO", "XXX", "CUP", "IQD", "U D", "12A", "\u017fek", "\uff35\uff33\uff24", "U\x00D"],
)
def test_any_other_text_is_unsupported(text: str) -> None:
    assert currencies.normalize(text) is None


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        currencies.EXPONENTS["USD"] = 3  # type: ignore[index]
