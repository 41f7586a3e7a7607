"""Conversion of a gateway's money: decimal strings, and integers of minor units by the gateway's own exponents.

A payment, a refund or a disputed amount is rounded half to even to its currency, and an invalid one fails its event.
Tax, shipping and the like only describe a payment: an amount that cannot be read exactly is unknown (None).
"""

import re
from collections.abc import Mapping
from decimal import Decimal

from domain.gateways.facts import UnreadableEvent, UnsupportedCurrency
from domain.money import currencies, money

_MAX_DIGITS = 40
_DECIMAL = re.compile(r"(-?(?=\.?[0-9])[0-9]{0,40})(?:\.([0-9]{0,80}))?")


def currency(code: object) -> str:
    """Return a currency in our spelling. Raises UnreadableEvent, UnsupportedCurrency."""
    if not isinstance(code, str):
        raise UnreadableEvent("the currency is not text")
    normalized = currencies.normalize(code)
    if normalized is None:
        raise UnsupportedCurrency(code[:16])
    return normalized


def from_decimal(value: object, in_currency: str) -> int:
    """Return minor units of a decimal text (or a Decimal, or an integer): "118.00" in USD is 11800.

    More decimals than the currency has are rounded half to even. Raises UnreadableEvent for a negative or too large
    amount, and for a value that is not a number.
    """
    return _to_cents(*_scale_decimal(value, in_currency))


def from_minor(value: object, in_currency: str, exponents: Mapping[str, int] | None = None) -> int:
    """Return our minor units of an integer that counts minor units by the gateway's `exponents`.

    A currency that they do not list has our exponent. Hundredths of a currency without them are rounded half to even.
    An integer as a text is accepted. Raises as `from_decimal`, and for a fraction, whose unit is unclear.
    """
    return _to_cents(*_scale_minor(value, in_currency, exponents))


def parse_exact_decimal(value: object, in_currency: str) -> int | None:
    """Return an amount that only describes a payment, converted like `from_decimal`; None where it is unknown.

    It is unknown if it is missing, negative, too large, not a number, or more precise than its currency.
    """
    try:
        return _to_exact_cents(*_scale_decimal(value, in_currency))
    except UnreadableEvent:
        return None


def parse_exact_minor(value: object, in_currency: str, exponents: Mapping[str, int] | None = None) -> int | None:
    """Return an amount that only describes a payment, converted like `from_minor`; None where it is unknown."""
    try:
        return _to_exact_cents(*_scale_minor(value, in_currency, exponents))
    except UnreadableEvent:
        return None


def subtract_parts(paid: int, *parts: int | None) -> int | None:
    """Return a payment less its tax and shipping; None where one is unknown or they exceed the payment."""
    net = paid - sum(part for part in parts if part is not None)
    return net if None not in parts and 0 <= net <= paid else None


def to_decimal(cents: int, in_currency: str) -> str:
    """Return our minor units as a gateway's decimal text: 1050 in USD is "10.50", in JPY "1050"."""
    exponent = currencies.exponent(in_currency)
    return f"{Decimal(cents).scaleb(-exponent):f}"


def to_minor(cents: int, in_currency: str, exponents: Mapping[str, int] | None = None) -> int:
    """Return our minor units in a gateway's, by its `exponents`; a gateway with fewer decimals rounds down."""
    ours = currencies.exponent(in_currency)
    theirs = (exponents or {}).get(in_currency, ours)
    return cents * 10 ** (theirs - ours) if theirs >= ours else cents // 10 ** (ours - theirs)


def without_tax(paid: int, tax: int | None, total: int | None) -> int | None:
    """Return a payment less its share of the invoice's tax, half to even; `total` includes `tax`.

    None where tax or total is unknown, and for a payment above the invoice, which pays for something unknown.
    """
    if tax is None or total is None:
        return None
    if not paid:
        return 0
    if paid > total or tax > total:
        return None
    return paid - money.divide_half_even(tax * paid, total)


def _scale_decimal(value: object, in_currency: str) -> tuple[int, int]:
    """Return a decimal number as a numerator and a denominator of minor units. Raises UnreadableEvent."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise UnreadableEvent("an amount is not a decimal number")
    if isinstance(value, Decimal) and abs(value.adjusted()) > _MAX_DIGITS:
        raise UnreadableEvent("an amount is too large or too small")  # as a text it could fill the memory
    match = _DECIMAL.fullmatch(f"{value:f}" if isinstance(value, Decimal) else str(value).strip())
    if match is None:
        raise UnreadableEvent("an amount is not a decimal number")
    whole, decimals = match[1], (match[2] or "").rstrip("0")
    exponent = currencies.exponent(in_currency)
    digits = whole + decimals.ljust(exponent, "0")
    return int(digits) if digits not in ("", "-") else 0, 10 ** max(len(decimals) - exponent, 0)


def _scale_minor(value: object, in_currency: str, exponents: Mapping[str, int] | None) -> tuple[int, int]:
    """Return a gateway's minor units as numerator and denominator of ours. Raises UnreadableEvent."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if type(value) is not int:
        raise UnreadableEvent("an amount is not an integer")
    ours = currencies.exponent(in_currency)
    theirs = (exponents or {}).get(in_currency, ours)
    return value * 10 ** max(ours - theirs, 0), 10 ** max(theirs - ours, 0)


def _to_exact_cents(numerator: int, denominator: int) -> int | None:
    units, remainder = divmod(numerator, denominator)
    return None if remainder else _to_cents(units)


def _to_cents(numerator: int, denominator: int = 1) -> int:
    if not 0 <= numerator <= money.MAX_AMOUNT_CENTS * denominator:
        raise UnreadableEvent("an amount is negative or too large")
    return money.divide_half_even(numerator, denominator)
