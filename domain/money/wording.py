"""How money and rates are said to people: by our own exponents, the code of the currency behind them.

What is not there is a dash, and a negative amount has a minus sign, not a hyphen.
"""

from decimal import Decimal

from domain.money import currencies

#: What stands where there is nothing to show.
NOTHING = "–"
#: What stands before what is below zero.
MINUS = "\u2212"


def money(minor: int | None, currency: str | None) -> str:
    """Return minor units as `1,234.50 USD`: as many decimals as the currency has. Exact; raises ValueError for a
    currency that is none of ours.
    """
    if minor is None or currency is None:
        return NOTHING
    decimals = currencies.exponent(currency)
    whole, rest = divmod(abs(minor), 10**decimals)
    fraction = f".{rest:0{decimals}}" if decimals else ""
    return f"{MINUS if minor < 0 else ''}{whole:,}{fraction} {currency}"


def major(value: Decimal | float | str | None, currency: str | None) -> str:
    """Return a rate in major units as money: with the decimals of its currency, and more where it has more."""
    if value is None or currency is None:
        return NOTHING
    exact = Decimal(str(value)).normalize()
    decimals = max(currencies.exponent(currency), -int(exact.as_tuple().exponent))
    return f"{MINUS if exact < 0 else ''}{abs(exact):,.{decimals}f} {currency}"


def percent(value: Decimal | float | str | None) -> str:
    """Return a percentage without zeros that say nothing: `12.5 %`."""
    return NOTHING if value is None else f"{plain(value)}\N{NO-BREAK SPACE}%"


def plain(value: Decimal | float | str | None) -> str:
    """Return a rate without zeros that say nothing: `12.5`."""
    if value is None:
        return NOTHING
    text = f"{Decimal(str(value)):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
