"""Reads values of a source's rows without trusting their shape: texts, ids, times, tokens and names.

A missing or unusable value is None; only a row as a whole can be unreadable. `amounts` reads money.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from domain.text import one_line

#: The longest text that is read, and the longest token (old tokens have at most 190 characters).
MAX_TEXT, MAX_TOKEN = 500, 190
# More rows than any list has; the totals of all lists of a collection together fit a column.
_MAX_ROWS = 100_000_000
# Seconds after this are milliseconds: it is the year 5138.
_MILLISECONDS_FROM = 100_000_000_000
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


def get(value: Any, *path: str) -> Any:
    """Return the value at a path of names, None for a missing one."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def items(value: Any, *path: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list at a path; none for any other value."""
    raw = get(value, *path)
    return [item for item in raw if isinstance(item, Mapping)] if isinstance(raw, list) else []


def text(value: Any, *path: str) -> str | None:
    """Return a text at a path as one line of at most 500 characters; a number is its digits. None for a blank one."""
    raw = get(value, *path)
    raw = _to_int(raw)
    if isinstance(raw, int | Decimal) and not isinstance(raw, bool):
        raw = str(raw)
    if not isinstance(raw, str):
        return None
    return one_line.clean(raw).strip()[:MAX_TEXT].strip() or None


def first_text(value: Any, *names: str) -> str | None:
    """Return the first of these fields that is no blank text."""
    return next((word for name in names if (word := text(value, name)) is not None), None)


def email(value: Any, *path: str) -> str | None:
    """Return an email address at a path as it is spelled; judging validates it."""
    return text(value, *path)


def full_name(value: Any, *names: str) -> str:
    """Return a person's name of the fields that hold its parts; '' for a person without a name, also for `Unknown`."""
    parts = (text(value, name) for name in names)
    return " ".join(part for part in parts if part is not None and part.casefold() != "unknown")


def is_true(value: Any, *path: str) -> bool:
    """Return whether a value is true: the JSON value, 1, or the word."""
    raw = get(value, *path)
    return raw is True or (isinstance(raw, int) and raw == 1) or (isinstance(raw, str) and raw.lower() in ("true", "1"))


def count(value: Any, *path: str) -> int | None:
    """Return a whole number of 0 or more at a path, also as text."""
    raw = get(value, *path)
    if isinstance(raw, str) and raw.isascii() and raw.isdigit() and len(raw) < 19:
        raw = int(raw)
    raw = _to_int(raw)
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < 1 << 63 else None


def row_count(value: Any, *path: str) -> int | None:
    """Return a number of rows at a path; None for one that no list has."""
    rows = count(value, *path)
    return rows if rows is None or rows <= _MAX_ROWS else None


def _to_int(raw: Any) -> Any:
    """Return a whole decimal number as an int, anything else as it is."""
    if not isinstance(raw, float | Decimal) or not math.isfinite(raw) or not -(10**18) < raw < 10**18:
        return raw
    return int(raw) if raw == int(raw) else raw


def number(value: Any, *path: str) -> Decimal | None:
    """Return a finite number at a path, also as text: a rate, not an amount of money."""
    raw = get(value, *path)
    if isinstance(raw, bool) or not isinstance(raw, int | float | Decimal | str):
        return None
    try:
        read = Decimal(str(raw).strip())
    except ArithmeticError:
        return None
    return read if read.is_finite() and read.copy_abs() < 10**15 else None  # abs() fails for an absurd exponent


def time(value: Any, *path: str) -> datetime | None:
    """Return a time at a path in UTC: ISO 8601 (without a zone it is UTC), or seconds or milliseconds since 1970."""
    raw = get(value, *path)
    if isinstance(raw, str):
        raw = raw.strip()
        if raw.isascii() and raw.isdigit() and len(raw) > 8:
            raw = int(raw[:20])
    try:
        if isinstance(raw, str):
            # Some write "2026-01-02 03:04:05 UTC".
            read = datetime.fromisoformat(raw.removesuffix(" UTC"))
            read = read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
        elif isinstance(raw, int | float | Decimal) and not isinstance(raw, bool):
            raw = float(raw)
            seconds = raw / 1000 if abs(raw) >= _MILLISECONDS_FROM else raw
            read = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return read if _FIRST < read < _LAST else None


def token(value: Any, *path: str) -> str | None:
    """Return a link's token at a path, percent-decoded; None for a blank one or one of more than 190 characters."""
    raw = get(value, *path)
    if isinstance(raw, int) and not isinstance(raw, bool):
        raw = str(raw)
    if not isinstance(raw, str):
        return None
    read = one_line.clean(unquote(raw)).strip()
    return read if 0 < len(read) <= MAX_TOKEN else None


def token_of_url(url: str | None, *parameters: str) -> tuple[str, str] | None:
    """Return the first of these parameters that a link's address has, and its token."""
    try:
        query = dict(parse_qsl(urlsplit(url or "").query))
    except ValueError:
        return None
    for name in parameters:
        if (read := token(query, name)) is not None:
            return name, read
    return None


def token_parameter(url: str | None, token_text: str) -> str | None:
    """Return the parameter that has this token in a link's address; None if none has."""
    try:
        pairs = parse_qsl(urlsplit(url or "").query)
    except ValueError:
        return None
    return next((name for name, value in pairs if value == token_text), None)
