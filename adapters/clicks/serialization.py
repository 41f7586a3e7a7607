"""Serializes clicks as JSON for the stream; readable by this release, the one before and the next.

Unknown fields of a newer release are ignored; missing fields get their defaults.

Thousands are read per second, so all field types are checked with a single lookup.
"""

import itertools
from datetime import datetime
from operator import itemgetter
from typing import Any, get_args, get_type_hints
from uuid import UUID

import orjson

from domain.clicks.raw_click import RawClick


def _json_types(hint: Any) -> tuple[type, ...]:
    """Return the types that a field may have in JSON: str, str or None, bool, or list."""
    if hint in (str, bool):
        return (hint,)
    return get_args(hint) if type(None) in get_args(hint) else (list,)


_DEFAULTS = {
    name: list(value) if isinstance(value, tuple) else value for name, value in RawClick._field_defaults.items()
}
_parts = itemgetter(*RawClick._fields)
_TYPES = frozenset(itertools.product(*map(_json_types, get_type_hints(RawClick).values())))
_TEXTS = frozenset([str])


def to_bytes(click: RawClick) -> bytes:
    """Return a click as JSON."""
    return orjson.dumps(click._asdict())


def from_bytes(payload: bytes) -> RawClick:
    """Return the click that `to_bytes` wrote, in this or another release. Raises ValueError for anything else."""
    fields = orjson.loads(payload)
    if not isinstance(fields, dict):
        raise ValueError("not a click")
    try:
        parts = _parts(fields)
    except KeyError:
        parts = _parts_or_defaults(fields)
    if tuple(map(type, parts)) not in _TYPES:
        raise ValueError("not a click")
    click = RawClick._make([tuple(part) if type(part) is list else part for part in parts])
    if not _TEXTS.issuperset(map(type, click.query_names + click.languages)):
        raise ValueError("not a click")
    return click


def check_formats(click: RawClick) -> None:
    """Raise ValueError if an id, a hash or the time has an unknown format."""
    for text in (click.id, click.organization_id, click.program_id, click.affiliate_id):
        UUID(text)
    for text in (click.visitor, click.network):
        bytes.fromhex(text)
    if datetime.fromisoformat(click.occurred_at).tzinfo is None:
        raise ValueError("a time without a zone")


def _parts_or_defaults(fields: dict[str, Any]) -> tuple[Any, ...]:
    try:
        parts: tuple[Any, ...] = _parts(_DEFAULTS | fields)
    except KeyError as error:
        raise ValueError("not a click") from error
    return parts
