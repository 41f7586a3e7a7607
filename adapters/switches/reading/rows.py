"""Turns a source's pages into rows: their ids, mentions of affiliates, pages by number and by the last id."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.switches.base import SourceResponse, SourceRow, UnreadablePage, UnreadableRow
from adapters.switches.reading import values
from domain.switches.sources import Collection

_MAX_ID = 255
_MAX_DEPTH = 40


def read_list(response: SourceResponse, *path: str) -> Sequence[Any]:
    """Return the list at a path of an answer. Raises UnreadablePage if it has no list there."""
    raw = values.get(response.json, *path)
    if not isinstance(raw, list):
        raise UnreadablePage("the answer has no list" + (f" at {'.'.join(path)}" if path else ""))
    return raw


def build_row(collection: Collection, raw: Any, *, key: str = "id", is_mention: bool = False) -> SourceRow:
    """Return a row of a source's object. One without an id, or that is no object, gets an id from its content.

    NUL characters and anything else that the database cannot store is removed.
    """
    data = make_storable(raw)
    if not isinstance(data, dict):
        data = {"value": data}
    return SourceRow(collection, read_id(data.get(key)) or compute_digest(data), data, is_mention)


def read_id(raw: Any) -> str | None:
    """Return an id: a text or a whole number. One of more than 255 characters is replaced by its digest."""
    word = values.text({"id": raw}, "id")
    if word is None:
        return None
    full = raw if isinstance(raw, str) else word
    return word if len(full) <= _MAX_ID else compute_digest(full)


def compute_digest(data: Any) -> str:
    """Return an id from the content of a row, equal for equal content."""
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), default=str)
    return "content-" + hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def build_mention(raw: Any, *, key: str = "id") -> SourceRow | None:
    """Return the row of an affiliate whom another row names, None if it names no affiliate with an id."""
    if not isinstance(raw, Mapping) or read_id(raw.get(key)) is None:
        return None
    return build_row(Collection.Affiliates, raw, key=key, is_mention=True)


def drop_repeats(page_rows: Sequence[SourceRow | None]) -> list[SourceRow]:
    """Return the rows without Nones and without repeated mentions."""
    rows = {
        (source_row.collection, source_row.source_id, source_row.is_mention): source_row
        for source_row in page_rows
        if source_row is not None
    }
    return list(rows.values())


def require_id(source_row: SourceRow, *, key: str = "id") -> Mapping[str, Any]:
    """Return the data of a row. Raises UnreadableRow if it has no id of its own."""
    if read_id(source_row.data.get(key)) is None:
        raise UnreadableRow("the row has no id")
    return source_row.data


def make_storable(raw: Any, depth: int = 0) -> Any:
    """Return a JSON value that the database can store: without NUL, lone surrogates, NaN and bottomless nesting."""
    if isinstance(raw, str):
        if raw.isascii() and "\x00" not in raw:
            return raw
        return raw.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(raw, float):
        return raw if math.isfinite(raw) else None
    if isinstance(raw, Mapping):
        if depth > _MAX_DEPTH:
            return None
        return {make_storable(str(name)): make_storable(value, depth + 1) for name, value in raw.items()}
    if isinstance(raw, list):
        return None if depth > _MAX_DEPTH else [make_storable(value, depth + 1) for value in raw]
    return raw


def read_page_number(cursor: Mapping[str, Any] | None) -> int:
    """Return the number of the page that a cursor names, from 1."""
    return int(cursor["page"]) if cursor else 1


def step_back(cursor: Mapping[str, Any], pages: int) -> Mapping[str, Any] | None:
    """Return the cursor so many pages earlier, at the least the first page."""
    number = read_page_number(cursor) - pages
    return {"page": number} if number > 1 else None
