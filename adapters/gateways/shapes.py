"""Reads values of gateways without trusting their shape: a missing one is None, or an error with its path."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from domain.gateways.facts import Fact, Facts, UnclearFact, UnreadableEvent
from domain.text import one_line

_ID_CHARACTERS = 255
_TEXT_CHARACTERS = 500
# A change within this time of an order's payment is the payment itself.
_PAID_WITHIN = timedelta(minutes=1)


def get(value: Any, *path: str) -> Any:
    """Return the value at a path of names, None for a missing one."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def items(value: Any, *path: str) -> list[Any]:
    """Return the objects of a list at a path; none for any other value."""
    raw = get(value, *path)
    return [item for item in raw if isinstance(item, Mapping)] if isinstance(raw, list) else []


def text(value: Any, *path: str) -> str | None:
    """Return a text at a path as one line, without the space around it, cut to 500 characters; a number is its digits.

    It may hold typed text, so control characters and direction marks are removed.
    """
    raw = _raw_text(value, *path)
    return None if raw is None else one_line.clean(raw).strip()[:_TEXT_CHARACTERS] or None


def _raw_text(value: Any, *path: str) -> str | None:
    raw = get(value, *path)
    if isinstance(raw, int) and not isinstance(raw, bool):
        raw = str(raw)
    if not isinstance(raw, str):
        return None
    return raw.replace("\x00", "").strip()[:_TEXT_CHARACTERS] or None


def identity(value: Any, *path: str) -> str | None:
    """Return an id at a path. Raises UnreadableEvent for one that is longer than 255 characters."""
    raw = _raw_text(value, *path)
    if raw is not None and len(raw) > _ID_CHARACTERS:
        raise UnreadableEvent(f"{'.'.join(path)} is longer than an id can be")
    return raw


def require(value: Any, *path: str) -> str:
    """Return an id that must be there. Raises UnreadableEvent with its path."""
    raw = identity(value, *path)
    if raw is None:
        raise UnreadableEvent(f"{'.'.join(path)} is missing")
    return raw


def segment(object_id: str) -> str:
    """Return an id as one segment of a path, whatever is in it."""
    return quote(object_id, safe="")


def table(value: Any, *path: str) -> Mapping[str, str]:
    """Return the texts and numbers of an object at a path, by name; nested values are left out."""
    raw = get(value, *path)
    if not isinstance(raw, Mapping):
        return {}
    return {str(name): word for name in raw if (word := text(raw, name)) is not None}


def pairs(value: Any, *path: str, name: str = "name", said: str = "value") -> Mapping[str, str]:
    """Return the texts of a list of names and values at a path; the first of equal names counts."""
    raw = ((text(item, name), text(item, said)) for item in reversed(items(value, *path)))
    return {key: text_value for key, text_value in raw if key is not None and text_value is not None}


def full_name(value: Any, *names: str) -> str | None:
    """Return a person's name of the fields that hold its parts; None where all are missing."""
    return " ".join(part for name in names if (part := text(value, name))) or None


def moment(value: Any, *path: str) -> datetime:
    """Return a time at a path: Unix seconds, or ISO 8601 (without a zone it is UTC). Raises UnreadableEvent."""
    raw = get(value, *path)
    try:
        if isinstance(raw, str) and not raw.isdigit():
            read = datetime.fromisoformat(raw.strip())
            return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
        if not isinstance(raw, bool):
            return datetime.fromtimestamp(int(raw), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        pass
    raise UnreadableEvent(f"{'.'.join(path)} is not a time")


def utc(at: datetime) -> str:
    """Return a time as most gateways write it: `2026-01-02T03:04:05Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def later_change(made: Callable[[], datetime], changed: Callable[[], datetime], *, anyhow: bool = False) -> str | None:
    """Return when a listed order changed, where that is later than its own payment, or `anyhow`; None where it is not.

    None as well where a time cannot be read: the payment's own event reports that.
    """
    try:
        at = changed()
        return at.isoformat() if anyhow or at - made() > _PAID_WITHIN else None
    except UnreadableEvent:
        return None


def read_alongside_sale(read: Callable[[], Facts]) -> Sequence[Fact]:
    """Return the refunds that the event of a sale holds; where they cannot be read, they wait for a person.

    The sale counts in either case.
    """
    try:
        facts = read()
    except UnreadableEvent:
        facts = UnclearFact("refund_amount_unknown")
    return facts if isinstance(facts, Sequence) else (facts,)


def is_since(since: datetime, read: Callable[[], datetime]) -> bool:
    """Return whether a listed object counts since then; also where its time is invalid, for `facts` reports that."""
    try:
        return read() >= since
    except UnreadableEvent:
        return True
