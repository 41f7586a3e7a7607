"""Amounts of gateways: exact, or refused."""

from decimal import Decimal

import pytest

from domain.gateways import amounts
from domain.gateways.facts import UnreadableEvent


@pytest.mark.parametrize(
    ("told", "currency", "units"),
    [
        ("118.00", "USD", 11_800),
        ("118", "USD", 11_800),
        (" 0.5 ", "USD", 50),
        (".50", "USD", 50),
        ("118.", "USD", 11_800),
        ("-0.00", "USD", 0),
        (118, "JPY", 118),
        ("118.0000", "JPY", 118),
        ("1.234", "KWD", 1_234),
        (Decimal("108.9"), "EUR", 10_890),
        (Decimal("1E+3"), "EUR", 100_000),
        ("10000000000.00", "USD", 10**12),
    ],
)
def test_a_decimal_is_its_minor_units(told, currency, units):
    assert amounts.of_decimal(told, currency) == units


@pytest.mark.parametrize(
    "told",
    [
        *("", ".", "-", "1.005", "1." + "0" * 30 + "1", "-1", "+1", "1_000", "١٢", "1e3", "1e999990", "1e999999999"),
        *("NaN", "Infinity", "10000000000.01", "9" * 500, None, True, 1.5, [], Decimal("NaN"), Decimal("Infinity")),
        *(Decimal("1E-99999999"), Decimal("1E+999999999")),
    ],
)
def test_what_is_no_exact_amount_is_refused_at_once(told):
    with pytest.raises(UnreadableEvent):
        amounts.of_decimal(told, "USD")


@pytest.mark.parametrize(
    ("paid", "tax", "total", "net"),
    [
        (118, 18, 118, 100),
        (59, 18, 118, 50),
        (0, 0, 0, 0),
        (100, 0, 100, 100),
        (200, 18, 118, None),
        (100, 200, 118, None),
    ],
)
def test_tax_is_taken_off_by_the_share_that_was_paid(paid, tax, total, net):
    assert amounts.without_tax(paid, tax, total) == net
