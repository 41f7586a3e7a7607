"""The cells of a file: amounts, with or without the sign of a currency, and times.

Nothing is guessed or rounded: `1,234` and `5/1/2024` are refused, since they can mean two things.
"""

import re
from datetime import UTC, datetime
from decimal import Decimal

_MAX_TIME_CHARACTERS = 64
# In ISO 8601 and as databases and programs print it: 14:00:00Z, 14:00:00 Z, 14:00:00 UTC.
_UTC = re.compile(r" ?(?:Z|UTC|GMT)\Z", re.IGNORECASE)
# 14:00:00 +0200
_SPACED_OFFSET = re.compile(r" ([+-][0-9]{2}:?[0-9]{2})\Z")

# A sign or a code of a currency around an amount: $49.00, 49.00 EUR.
_SIGN = r"(?:[A-Za-z]{3}|[$\u20ac\u00a3\u00a5\u20b9])?"
_SIGNED_AMOUNT = re.compile(rf"(-?){_SIGN} ?(-?)([0-9][0-9.,]*) ?{_SIGN}")
# Without separators of thousands, since 1,234 is ambiguous.
# With more digits than these, Decimal would round.
_DECIMAL = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,10})?")
_WHOLE = re.compile(r"-?[0-9]{1,25}")


def drop_currency(text: str) -> str:
    """Return an amount without the sign or code of a currency around it; another text unchanged."""
    match = _SIGNED_AMOUNT.fullmatch(text)
    if match is None or (match[1] and match[2]):
        return text
    return f"{match[1] or match[2]}{match[3]}"


def parse_decimal(text: str, *, separator: str) -> Decimal | None:
    """Return a number in major units, None if it is not plain.

    In a file whose cells are not separated by commas, a comma is a decimal point.
    """
    plain = text if separator == "," else text.replace(",", ".")
    return Decimal(plain) if _DECIMAL.fullmatch(plain) else None


def parse_whole(text: str) -> int | None:
    """Return a whole number, None for any other text."""
    return int(text) if _WHOLE.fullmatch(text) else None


def to_minor(amount: Decimal, exponent: int) -> int | None:
    """Return an amount in minor units, None if it has more decimals than the currency has."""
    minor = amount.scaleb(exponent)
    return int(minor) if minor == minor.to_integral_value() else None


def parse_time(text: str) -> datetime:
    """Return a time in ISO 8601 or as databases print it, UTC if it names no zone. Raises ValueError."""
    if len(text) > _MAX_TIME_CHARACTERS:
        raise ValueError("the time is too long")
    try:
        at = datetime.fromisoformat(_SPACED_OFFSET.sub(r"\1", _UTC.sub("+00:00", text.strip())))
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError("the time is outside of the calendar") from error
