"""Reads dataclasses that are stored as JSON, such as decisions: ids, times and decimals are text there."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_type_hints
from uuid import UUID

Decision = TypeVar("Decision")

_READERS: Mapping[type, Callable[[Any], Any]] = {
    UUID: UUID,
    datetime: datetime.fromisoformat,
    Decimal: lambda value: Decimal(str(value)),
    tuple: tuple,
}


def read(kind: type[Decision], stored: Mapping[str, Any]) -> Decision:
    """Return a stored dataclass, such as a decision; unknown fields are ignored."""
    readers = _field_readers(cast(Hashable, kind))
    values = {}
    for name, value in stored.items():
        if name in readers:
            reader = readers[name]
            values[name] = value if value is None or reader is None else reader(value)
    return kind(**values)


@cache
def _field_readers(kind: Any) -> Mapping[str, Callable[[Any], Any] | None]:
    hints = get_type_hints(kind)
    return {field.name: _find_reader(hints[field.name]) for field in fields(kind)}


def _find_reader(hint: Any) -> Callable[[Any], Any] | None:
    kinds = [getattr(each, "__origin__", each) for each in (hint, *get_args(hint))]
    return next((_READERS[each] for each in kinds if each in _READERS), None)
