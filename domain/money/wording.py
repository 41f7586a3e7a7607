"""Money and rates as text for people: by our own exponents, followed by the currency's code.

A missing value is a dash, and a negative amount has a minus sign, not a hyphen.
"""

from decimal import Decimal

from domain.money import currencies

#: The text of a missing value.
DASH = "–"
#: The sign of a negative amount.
MINUS = "\u2212"


def format_money(minor: int | None, currency: str | None) -> str:
    """Return minor units as `1,234.50 USD`: exact, with the decimals of the currency.

    Raises ValueError for an unsupported currency.
    """
    if minor is None or currency is None:
        return DASH
    decimals = currencies.exponent(currency)
    whole, rest = divmod(abs(minor), 10**decimals)
    fraction = f".{rest:0{decimals}}" if decimals else ""
    return f"{MINUS if minor < 0 else ''}{whole:,}{fraction} {currency}"


def format_major(value: Decimal | float | str | None, currency: str | None) -> str:
    """Return a rate in major units as money: with the decimals of its currency, and more where it has more."""
    if value is None or currency is None:
        return DASH
    exact = Decimal(str(value)).normalize()
    decimals = max(currencies.exponent(currency), -int(exact.as_tuple().exponent))
    return f"{MINUS if exact < 0 else ''}{abs(exact):,.{decimals}f} {currency}"


def format_percent(value: Decimal | float | str | None) -> str:
    """Return a percentage without trailing zeros: `12.5 %`."""
    return DASH if value is None else f"{format_plain(value)}\N{NO-BREAK SPACE}%"


def format_plain(value: Decimal | float | str | None) -> str:
    """Return a rate without trailing zeros: `12.5`."""
    if value is None:
        return DASH
    text = f"{Decimal(str(value)):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
