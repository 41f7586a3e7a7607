"""Reads a gateway's money: decimal strings, and integers that count minor units by the gateway's own exponents."""

import re
from collections.abc import Mapping
from decimal import Decimal

from domain.gateways.facts import UnreadableEvent, UnsupportedCurrency
from domain.money import currencies, money

_MOST_DIGITS = 40
_DECIMAL = re.compile(r"(-?(?=\.?[0-9])[0-9]{0,40})(?:\.([0-9]{0,80}))?")


def currency(code: object) -> str:
    """Return a currency as we write it. Raises UnreadableEvent, UnsupportedCurrency."""
    if not isinstance(code, str):
        raise UnreadableEvent("the currency is not text")
    known = currencies.normalize(code)
    if known is None:
        raise UnsupportedCurrency(code[:16])
    return known


def of_decimal(value: object, in_currency: str) -> int:
    """Return minor units of a decimal text (or a Decimal, or an integer): "118.00" in USD is 11800.

    Zeros behind the currency's own decimals are not a remainder. Raises UnreadableEvent for a remainder, for a
    negative or too large amount, and for what is not a number.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise UnreadableEvent("an amount is not a decimal number")
    if isinstance(value, Decimal) and abs(value.adjusted()) > _MOST_DIGITS:
        raise UnreadableEvent("an amount is too large or too small")  # written out it could fill the memory
    found = _DECIMAL.fullmatch(f"{value:f}" if isinstance(value, Decimal) else str(value).strip())
    if found is None:
        raise UnreadableEvent("an amount is not a decimal number")
    whole, rest = found[1], (found[2] or "").rstrip("0")
    exponent = currencies.exponent(in_currency)
    if len(rest) > exponent:
        raise UnreadableEvent(f"an amount has more decimals than {in_currency}")
    return _sane(int(whole + rest.ljust(exponent, "0")))


def of_minor(value: object, in_currency: str, exponents: Mapping[str, int] | None = None) -> int:
    """Return our minor units of an integer that counts minor units by the gateway's `exponents`.

    A currency that they do not list has our exponent. An integer's text will do. Raises as `of_decimal`.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if type(value) is not int:
        raise UnreadableEvent("an amount is not an integer")
    ours = currencies.exponent(in_currency)
    theirs = (exponents or {}).get(in_currency, ours)
    if theirs <= ours:
        return _sane(value * 10 ** (ours - theirs))
    units, remainder = divmod(value, 10 ** (theirs - ours))
    if remainder:
        raise UnreadableEvent(f"an amount has more decimals than {in_currency}")
    return _sane(units)


def to_decimal(cents: int, in_currency: str) -> str:
    """Return our minor units as a gateway's decimal text: 1050 in USD is "10.50", in JPY "1050"."""
    exponent = currencies.exponent(in_currency)
    return f"{Decimal(cents).scaleb(-exponent):f}"


def to_minor(cents: int, in_currency: str, exponents: Mapping[str, int] | None = None) -> int:
    """Return our minor units in a gateway's, by its `exponents`; one that counts no such small parts rounds down."""
    ours = currencies.exponent(in_currency)
    theirs = (exponents or {}).get(in_currency, ours)
    return cents * 10 ** (theirs - ours) if theirs >= ours else cents // 10 ** (ours - theirs)


def without_tax(paid: int, tax: int, total: int) -> int | None:
    """Return what of a payment is not tax, by its share of the invoice: `tax` is in `total`, rounded half to even.

    None for a payment that is more than the invoice: what else it pays for is not known.
    """
    if not paid:
        return 0
    if paid > total or tax > total:
        return None
    return paid - money.divide_half_even(tax * paid, total)


def _sane(units: int) -> int:
    if not 0 <= units <= money.MAX_AMOUNT_CENTS:
        raise UnreadableEvent("an amount is negative or too large")
    return units
