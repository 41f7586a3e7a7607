"""Reads what a gateway sent without trusting its shape: what is missing is None, what must be there is said by name."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from domain.gateways.facts import Fact, Facts, UnclearFact, UnreadableEvent
from domain.text import one_line

_ID_CHARACTERS = 255
_TEXT_CHARACTERS = 500
# What changes within this time of an order's payment is the payment itself.
_PAID_WITHIN = timedelta(minutes=1)


def at(value: Any, *path: str) -> Any:
    """Return what lies at a path of names, None where there is no such thing."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def items(value: Any, *path: str) -> list[Any]:
    """Return the objects of a list at a path; nothing for what is not a list."""
    found = at(value, *path)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def text(value: Any, *path: str) -> str | None:
    """Return a text at a path as one line, without the space around it, cut to 500 characters; a number is its digits.

    What people typed is in it, so control characters and direction marks are taken out.
    """
    found = _raw_text(value, *path)
    return None if found is None else one_line.clean(found).strip()[:_TEXT_CHARACTERS] or None


def _raw_text(value: Any, *path: str) -> str | None:
    found = at(value, *path)
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str):
        return None
    return found.replace("\x00", "").strip()[:_TEXT_CHARACTERS] or None


def identity(value: Any, *path: str) -> str | None:
    """Return an id at a path. Raises UnreadableEvent for one that is longer than 255 characters."""
    found = _raw_text(value, *path)
    if found is not None and len(found) > _ID_CHARACTERS:
        raise UnreadableEvent(f"{'.'.join(path)} is longer than an id can be")
    return found


def needed(value: Any, *path: str) -> str:
    """Return an id that must be there. Raises UnreadableEvent with its path."""
    found = identity(value, *path)
    if found is None:
        raise UnreadableEvent(f"{'.'.join(path)} is missing")
    return found


def segment(told: str) -> str:
    """Return an id as one segment of a path, whatever is in it."""
    return quote(told, safe="")


def table(value: Any, *path: str) -> Mapping[str, str]:
    """Return the texts and numbers of an object at a path, by name; what is nested is left out."""
    found = at(value, *path)
    if not isinstance(found, Mapping):
        return {}
    return {str(name): said for name in found if (said := text(found, name)) is not None}


def pairs(value: Any, *path: str, name: str = "name", said: str = "value") -> Mapping[str, str]:
    """Return the texts of a list of names and values at a path; the first of equal names counts."""
    found = ((text(item, name), text(item, said)) for item in reversed(items(value, *path)))
    return {key: words for key, words in found if key is not None and words is not None}


def full_name(value: Any, *names: str) -> str | None:
    """Return a person's name of the fields that hold its parts; None where all are missing."""
    return " ".join(part for name in names if (part := text(value, name))) or None


def moment(value: Any, *path: str) -> datetime:
    """Return a time at a path: Unix seconds, or ISO 8601 (without a zone it is UTC). Raises UnreadableEvent."""
    found = at(value, *path)
    try:
        if isinstance(found, str) and not found.isdigit():
            read = datetime.fromisoformat(found.strip())
            return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
        if not isinstance(found, bool):
            return datetime.fromtimestamp(int(found), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        pass
    raise UnreadableEvent(f"{'.'.join(path)} is not a time")


def utc(at: datetime) -> str:
    """Return a time as most gateways are asked for it: `2026-01-02T03:04:05Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def later_change(made: Callable[[], datetime], changed: Callable[[], datetime], *, anyhow: bool = False) -> str | None:
    """Return when a listed order changed, where that is later than its own payment, or `anyhow`; None where it is not.

    None as well where a time cannot be read: the payment's own event says what is wrong.
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
