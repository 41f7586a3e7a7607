"""Gateway amounts: a payment is rounded to its currency or refused, any other amount is exact or unknown."""

from decimal import Decimal

import pytest

from domain.gateways import amounts
from domain.gateways.facts import UnreadableEvent


@pytest.mark.parametrize(
    ("reported", "currency", "units"),
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
        ("108.9049", "EUR", 10_890),
        ("108.905", "EUR", 10_890),
        ("108.915", "EUR", 10_892),
        ("33.3333", "EUR", 3_333),
        ("1." + "0" * 30 + "1", "USD", 100),
        ("980.50", "JPY", 980),
        ("981.50", "JPY", 982),
        ("0.0005", "KWD", 0),
        (".0", "JPY", 0),
        ("-.0", "JPY", 0),
    ],
)
def test_decimal_amount_is_converted_to_minor_units(reported, currency, units):
    assert amounts.from_decimal(reported, currency) == units


@pytest.mark.parametrize(
    "reported",
    [
        *("", ".", "-", "-1", "-0.001", "+1", "1_000", "١٢", "1e3", "1e999990", "1e999999999"),
        *("NaN", "Infinity", "10000000000.01", "9" * 500, None, True, 1.5, [], Decimal("NaN"), Decimal("Infinity")),
        *(Decimal("1E-99999999"), Decimal("1E+999999999")),
    ],
)
def test_invalid_payment_amount_is_refused(reported):
    with pytest.raises(UnreadableEvent):
        amounts.from_decimal(reported, "USD")


@pytest.mark.parametrize(
    "reported", ["108.9049", "-1.74", "x", "", None, True, [], 1.5, "9" * 30, Decimal("1E+999999999")]
)
def test_inexact_amount_is_unknown(reported):
    assert amounts.parse_exact_decimal(reported, "EUR") is None
    assert amounts.parse_exact_minor(reported, "EUR") is None


def test_exact_amount_is_converted_to_minor_units():
    assert amounts.parse_exact_decimal("118.0000", "JPY") == 118
    assert amounts.parse_exact_minor("118", "EUR") == 118
    assert amounts.parse_exact_minor(11_800, "ISK", {"ISK": 2}) == 118
    assert amounts.parse_exact_minor(11_850, "ISK", {"ISK": 2}) is None


@pytest.mark.parametrize("reported", ["10.50", 10.5, Decimal("10.5"), -1, "-1", "x", None, True, [], 10**30])
def test_payment_with_invalid_minor_units_is_refused(reported):
    with pytest.raises(UnreadableEvent):
        amounts.from_minor(reported, "USD")


@pytest.mark.parametrize(
    ("paid", "parts", "expected"),
    [
        (100, (), 100),
        (100, (18, 2), 80),
        (100, (100, 0), 0),
        (100, (18, None), None),
        (100, (None,), None),
        (100, (101,), None),
        (0, (0,), 0),
    ],
)
def test_parts_are_subtracted_only_if_all_are_known(paid, parts, expected):
    assert amounts.subtract_parts(paid, *parts) == expected


@pytest.mark.parametrize(
    ("paid", "tax", "total", "net"),
    [
        (100, None, 118, None),
        (0, None, 0, None),
        (100, 18, None, None),
        (118, 18, 118, 100),
        (59, 18, 118, 50),
        (0, 0, 0, 0),
        (100, 0, 100, 100),
        (200, 18, 118, None),
        (100, 200, 118, None),
    ],
)
def test_tax_is_subtracted_in_proportion_to_the_paid_share(paid, tax, total, net):
    assert amounts.without_tax(paid, tax, total) == net
