"""How a click travels from the web process that saw it: as JSON, from this release, the one before or the next.

Fields that only a newer release knows are ignored, and absent ones that have a default get it.

Thousands are written and read a second, so what its parts are is seen by one look at all their types.
"""

import itertools
from datetime import datetime
from operator import itemgetter
from typing import Any, get_args, get_type_hints
from uuid import UUID

import orjson

from domain.clicks.raw_click import RawClick


def _kinds(hint: Any) -> tuple[type, ...]:
    """Return as what JSON brings a field: a text, a text or nothing, a flag, or a list."""
    if hint in (str, bool):
        return (hint,)
    return get_args(hint) if type(None) in get_args(hint) else (list,)


_DEFAULTS = {
    name: list(value) if isinstance(value, tuple) else value for name, value in RawClick._field_defaults.items()
}
_parts = itemgetter(*RawClick._fields)
_KINDS = frozenset(itertools.product(*map(_kinds, get_type_hints(RawClick).values())))
_TEXTS = frozenset([str])


def to_bytes(click: RawClick) -> bytes:
    """Return a click as the JSON that travels."""
    return orjson.dumps(click._asdict())


def from_bytes(sent: bytes) -> RawClick:
    """Return the click that `to_bytes` wrote, here or in another release. Raises ValueError for anything else."""
    read = orjson.loads(sent)
    if not isinstance(read, dict):
        raise ValueError("not a click")
    try:
        parts = _parts(read)
    except KeyError:
        parts = _parts_or_defaults(read)
    if tuple(map(type, parts)) not in _KINDS:
        raise ValueError("not a click")
    click = RawClick._make([tuple(part) if type(part) is list else part for part in parts])
    if not _TEXTS.issuperset(map(type, click.query_names + click.languages)):
        raise ValueError("not a click")
    return click


def check_forms(click: RawClick) -> None:
    """Raise ValueError where an id, a hash or the time is in a form that this release does not know."""
    for text in (click.id, click.organization_id, click.program_id, click.affiliate_id):
        UUID(text)
    for text in (click.visitor, click.network):
        bytes.fromhex(text)
    if datetime.fromisoformat(click.occurred_at).tzinfo is None:
        raise ValueError("a time without a zone")


def _parts_or_defaults(read: dict[str, Any]) -> tuple[Any, ...]:
    try:
        parts: tuple[Any, ...] = _parts(_DEFAULTS | read)
    except KeyError as error:
        raise ValueError("not a click") from error
    return parts
