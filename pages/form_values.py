"""Numbers, amounts and host names that people type into a form, as the API takes them, and back.

A text that is not a number goes to the API as typed, so that the API reports the error. Amounts are typed in major
units of their currency and sent in minor ones.
"""

from decimal import Decimal, InvalidOperation

from domain.money import currencies

_MAX_LENGTH = 30
# Digits before the point for which minor units fit into 64 bits.
_MAX_DIGITS = 14


def parse_number(text: str) -> int | float | str | None:
    """Return a typed number as a JSON number; None for an empty field."""
    text = text.strip()
    if not text:
        return None
    value = _parse_decimal(text)
    if value is None:
        return text
    return int(value) if value == value.to_integral_value() else float(value)


def parse_amount(text: str, currency: str) -> int | str | None:
    """Return a typed amount in minor units; None for an empty field.

    An amount with more decimals than the currency has, or of an unknown currency, is returned as typed.
    """
    text = text.strip()
    if not text:
        return None
    value = _parse_decimal(text)
    if value is None or currency not in currencies.EXPONENTS:
        return text
    amount = value.scaleb(currencies.exponent(currency))
    return int(amount) if amount == amount.to_integral_value() else text


def format_amount(amount: int | None, currency: str | None) -> str | None:
    """Return minor units as a person types them: `1234.50`."""
    if amount is None or currency is None:
        return None
    decimals = currencies.exponent(currency)
    return f"{Decimal(amount).scaleb(-decimals):.{decimals}f}"


def parse_host(text: str) -> str | None:
    """Return a host name as in DNS: without a dot at its end, other scripts in their `xn--` form.

    None for an empty field.
    """
    name = text.strip().removesuffix(".")
    try:
        return name.encode("idna").decode("ascii") or None
    except UnicodeError:
        return name or None


def _parse_decimal(text: str) -> Decimal | None:
    """Return a typed number; None for an invalid one, and for `1,000`, which may be a thousand or one."""
    whole, point, _ = text.partition(".")
    first, *groups = whole.split(",")
    if len(text) > _MAX_LENGTH or (len(groups) == 1 and len(groups[0]) == 3 and not point):
        return None
    are_thousands = bool(groups) and (bool(point) or len(groups) > 1)
    if are_thousands and not (1 <= len(first.strip("-")) <= 3 and all(len(group) == 3 for group in groups)):
        return None
    try:
        value = Decimal(text.replace(",", "" if are_thousands else "."))
    except InvalidOperation:
        return None
    return value if value.is_finite() and -_MAX_LENGTH < value.adjusted() < _MAX_DIGITS else None
