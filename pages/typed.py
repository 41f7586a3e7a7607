"""Numbers and host names that people type into a form, as the API takes them, and back.

What is no number goes to the API as it was typed, so that the API says what is wrong with it. Amounts are typed in
major units of their currency and sent in minor ones.
"""

from decimal import Decimal, InvalidOperation

from domain.money import currencies

_LONGEST = 30
# Digits before the point that still go into 64 bits in minor units.
_MOST_DIGITS = 14


def number(text: str) -> int | float | str | None:
    """Return what was typed as a JSON number; None for an empty field."""
    typed = text.strip()
    if not typed:
        return None
    found = _decimal(typed)
    if found is None:
        return typed
    return int(found) if found == found.to_integral_value() else float(found)


def minor(text: str, currency: str) -> int | str | None:
    """Return an amount that was typed in minor units; None for an empty field.

    What is finer than the currency's smallest unit is no amount of it, and is returned as it was typed.
    """
    typed = text.strip()
    if not typed:
        return None
    found = _decimal(typed)
    if found is None:
        return typed
    amount = found.scaleb(currencies.exponent(currency))
    return int(amount) if amount == amount.to_integral_value() else typed


def major(amount: int | None, currency: str | None) -> str | None:
    """Return minor units as somebody would type them: `1234.50`."""
    if amount is None or currency is None:
        return None
    decimals = currencies.exponent(currency)
    return f"{Decimal(amount).scaleb(-decimals):.{decimals}f}"


def host(text: str) -> str | None:
    """Return a host name as name servers know it: without a dot at its end, other scripts in their `xn--` form.

    None for an empty field.
    """
    typed = text.strip().removesuffix(".")
    try:
        return typed.encode("idna").decode("ascii") or None
    except UnicodeError:
        return typed or None


def _decimal(text: str) -> Decimal | None:
    """Return the number that is meant; None for what is none, and for `1,000`, which may be a thousand or one."""
    whole, point, _ = text.partition(".")
    first, *groups = whole.split(",")
    if len(text) > _LONGEST or (len(groups) == 1 and len(groups[0]) == 3 and not point):
        return None
    are_thousands = bool(groups) and (bool(point) or len(groups) > 1)
    if are_thousands and not (1 <= len(first.strip("-")) <= 3 and all(len(group) == 3 for group in groups)):
        return None
    try:
        found = Decimal(text.replace(",", "" if are_thousands else "."))
    except InvalidOperation:
        return None
    return found if found.is_finite() and -_LONGEST < found.adjusted() < _MOST_DIGITS else None
