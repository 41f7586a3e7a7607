"""Reads forms whose names have brackets: `order[charges][0][name]=Course` becomes nested tables."""

from typing import Any
from urllib.parse import parse_qsl, unquote

_MOST_FIELDS = 1_000
_DEPTH = 8


def parse_nested(body: bytes) -> dict[str, Any]:
    """Return a form's fields; of equal names the first counts, and a list becomes a table keyed by index.

    Brackets may be percent-encoded twice. Raises ValueError for any other body.
    """
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError as error:  # a UnicodeDecodeError is one
        raise ValueError("this is not a form") from error
    fields: dict[str, Any] = {}
    for name, value in pairs:
        _set_at_path(fields, _path(name), value)
    return fields


def _path(name: str) -> list[str]:
    """Return the steps of a name; a name that is no well-made path is one step."""
    if "%5" in name:
        name = unquote(name)
    first, *rest = name.split("[")
    if not first or len(rest) > _DEPTH or not all(step.endswith("]") for step in rest):
        return [name]
    return [first, *(step[:-1] for step in rest)]


def _set_at_path(fields: dict[str, Any], path: list[str], value: str) -> None:
    """Set a value at a path, unless a value on the path is not a table."""
    for step in path[:-1]:
        inner = fields.setdefault(step or str(len(fields)), {})
        if not isinstance(inner, dict):
            return
        fields = inner
    fields.setdefault(path[-1] or str(len(fields)), value)
