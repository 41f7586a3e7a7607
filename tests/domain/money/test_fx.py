"""Amounts are converted exactly and rounded once."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.money import fx

PER_USD = {
    "EUR": Decimal("0.8"),
    "JPY": Decimal("150"),
    "KWD": Decimal("0.3"),
    "GBP": Decimal("0.75"),
    "THB": Decimal("32"),
}


def convert(amount_cents: int, pair: str) -> int | None:
    from_currency, to_currency = pair.split(">")
    return fx.to_currency(
        amount_cents=amount_cents, from_currency=from_currency, to_currency=to_currency, per_usd=PER_USD
    )


@pytest.mark.parametrize(
    ("amount_cents", "pair", "result"),
    [
        (800, "EUR>USD", 1000),
        (1000, "USD>EUR", 800),
        (15000, "JPY>USD", 10000),
        (10000, "USD>JPY", 15000),
        (300, "KWD>USD", 100),
        (100, "USD>KWD", 300),
        (1500, "JPY>KWD", 3000),
        (800, "EUR>GBP", 750),
        (16, "THB>USD", 0),
        (48, "THB>USD", 2),
        (80, "THB>USD", 2),
        (1, "USD>JPY", 2),
        (3, "USD>JPY", 4),
        (-800, "EUR>USD", -1000),
        (-48, "THB>USD", -2),
        (0, "EUR>JPY", 0),
        (1, "JPY>USD", 1),
        (1_000_000_000_000, "KWD>JPY", 500_000_000_000),
    ],
)
def test_conversion_respects_the_exponents_of_both_currencies(amount_cents: int, pair: str, result: int) -> None:
    assert convert(amount_cents, pair) == result


def test_same_currency_needs_no_rate() -> None:
    assert convert(123, "ZAR>ZAR") == 123


@pytest.mark.parametrize("pair", ["ZAR>USD", "USD>ZAR", "ZAR>EUR", "EUR>ZAR", "ZAR>NOK"])
def test_missing_rate_returns_none(pair: str) -> None:
    assert convert(100, pair) is None


def test_dollar_rate_is_one_even_if_the_table_differs() -> None:
    per_usd = {"EUR": Decimal("0.5"), "USD": Decimal("2")}

    assert fx.to_currency(amount_cents=50, from_currency="EUR", to_currency="USD", per_usd=per_usd) == 100


@pytest.mark.parametrize("rate", ["0", "-1"])
def test_rate_of_zero_or_less_is_refused(rate: str) -> None:
    with pytest.raises(ValueError, match="EUR"):
        fx.to_currency(amount_cents=1, from_currency="EUR", to_currency="USD", per_usd={"EUR": Decimal(rate)})


@given(
    amount_cents=st.integers(min_value=-(10**12), max_value=10**12),
    rate=st.decimals(min_value="0.000001", max_value="1000000", places=6),
)
def test_negated_amount_converts_to_the_negated_result(amount_cents: int, rate: Decimal) -> None:
    def in_usd(cents: int) -> int:
        usd = fx.to_currency(amount_cents=cents, from_currency="EUR", to_currency="USD", per_usd={"EUR": rate})
        assert usd is not None
        return usd

    assert in_usd(-amount_cents) == -in_usd(amount_cents)
