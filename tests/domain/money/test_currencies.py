"""The allowlist follows the spec, the exponents follow ISO 4217."""

import pytest
from iso4217 import Currency

from domain.money import currencies


def test_allowlist_has_the_137_codes_of_the_spec() -> None:
    assert len(currencies.EXPONENTS) == 137


def test_every_exponent_matches_iso_4217() -> None:
    expected = {code: Currency(code).exponent for code in currencies.EXPONENTS}

    assert dict(currencies.EXPONENTS) == expected


def test_five_currencies_have_three_decimals() -> None:
    codes = {code for code, exponent in currencies.EXPONENTS.items() if exponent == 3}

    assert codes == {"BHD", "JOD", "KWD", "OMR", "TND"}


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
def test_exponent_is_the_number_of_decimals(code: str, exponent: int) -> None:
    assert currencies.exponent(code) == exponent


@pytest.mark.parametrize("code", ["usd", "ANG", "XXX", ""])
def test_exponent_of_an_unsupported_code_raises(code: str) -> None:
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
def test_unsupported_code_normalizes_to_none(text: str) -> None:
    assert currencies.normalize(text) is None


def test_exponent_table_is_read_only() -> None:
    with pytest.raises(TypeError):
        currencies.EXPONENTS["USD"] = 3  # type: ignore[index]
