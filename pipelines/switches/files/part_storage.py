"""Stores the parts of source files as they are sent: their headers, and each row by its part and line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from domain.imports.tables import TableHeader, UnreadableFile, open_table
from domain.refusals import Refused, not_found
from domain.switches.files import column_suggestions
from domain.switches.files.column_suggestions import ColumnSuggestion
from domain.switches.files.file_fields import FIELDS, MAX_PART_BYTES, MAX_PART_ROWS, MAX_PARTS, normalize_heading
from domain.switches.sources import MAX_COMMISSIONS, SourceName
from domain.switches.states import SwitchState
from domain.text import one_line
from models.switches import switches
from models.switches.staging import file_parts
from models.switches.switches import Switch
from pipelines.switches.files import file_mapping

# A slice of rows is one statement: this many rows, or cells of this many characters.
_SLICE_ROWS: Final = 2_000
_SLICE_CHARACTERS: Final = 1024 * 1024
# Of a row without cells this much of the text is stored, so that people recognize it.
_MAX_FAULT_CHARACTERS: Final = 200
_CHANGEABLE: Final = (SwitchState.Connected, SwitchState.Ready)

_StoredRow = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A stored part: its number of rows, its header, and the column that probably holds each field.

    `service` is the known export that it was recognized as, `words` the meaning of its words there.
    """

    collection: str
    part: int
    rows: int
    header: tuple[str, ...]
    suggested: Mapping[str, str]
    service: str | None
    words: Mapping[str, str]


def store_part(
    *, organization_id: UUID, switch_id: UUID, collection: str, part: int, data: bytes, now: datetime
) -> StoredPart:
    """Store a part of a file in place of the one with its number, and return it.

    What the words of a known export mean is added to the switch, where the brand has not said it. A switch that was
    judged is Connected again, since its preview is of other rows. Budget: 1 round trip for each 2,000 rows, and 9.
    Raises Refused: 404 not_found; 400 invalid_request (part); 409 switch_not_files, switch_not_changeable;
    413 payload_too_large; 422 unreadable_file.
    """
    if collection not in FIELDS:
        raise not_found("collection of files", collection[:40])
    if not 1 <= part <= MAX_PARTS:
        raise Refused(400, "invalid_request", f"Parts are numbered from 1 to {MAX_PARTS}.", field="part")
    if len(data) > MAX_PART_BYTES:
        raise Refused(413, "payload_too_large", f"A part has at most {MAX_PART_BYTES >> 20} MiB. Split the file.")
    switch = _lock(organization_id, switch_id)
    try:
        header, rows = open_table(data, lambda name: _is_table_of(collection, name))
        file_parts.stage_delete_rows(
            organization_id=organization_id, switch_id=switch_id, collection=collection, part=part
        )
        total = _store_rows(switch, collection, part, _read_rows(part, header, rows))
    except UnreadableFile as unreadable:
        raise Refused(422, "unreadable_file", str(unreadable)) from unreadable
    suggestion = column_suggestions.suggest_columns(collection, header.names)
    form = {
        "header": header.names,
        "service": suggestion.service,
        "parameter": suggestion.parameter,
        "has_id_links": suggestion.has_id_links,
    }
    file_parts.stage_part(
        organization_id=organization_id, switch_id=switch_id, collection=collection, part=part, total=total, form=form
    )
    words = _add_words(switch, collection, suggestion)
    file_mapping.derive(switches.update(switch, {**_forget_preview(now), "words": words}), collection=collection)
    return StoredPart(
        collection=collection,
        part=part,
        rows=total,
        header=header.names,
        suggested=suggestion.columns,
        service=suggestion.service,
        words=suggestion.words,
    )


def delete_part(*, organization_id: UUID, switch_id: UUID, collection: str, part: int, now: datetime) -> None:
    """Delete a part of a file with its rows; with the last one of a collection its columns and words go too.

    A switch that was judged is Connected again.
    Raises Refused: 404 not_found; 409 switch_not_files, switch_not_changeable.
    """
    switch = _lock(organization_id, switch_id)
    parts = [stored.part for stored in file_parts.list_parts(**switch.key) if stored.collection == collection]
    if part not in parts:
        raise Refused(404, "not_found", f"This switch has no part {part} of {collection[:40]}.")
    file_parts.stage_delete_part(**switch.key, collection=collection, part=part)
    changes = _forget_preview(now)
    if len(parts) == 1:
        changes["columns"] = {name: columns for name, columns in switch.columns.items() if name != collection}
        changes["words"] = {name: words for name, words in switch.words.items() if name != collection}
    file_mapping.derive(switches.update(switch, changes))


def _forget_preview(now: datetime) -> dict[str, Any]:
    return {"state": SwitchState.Connected.value, "preview": None, "touched_at": now}


def _store_rows(switch: Switch, collection: str, part: int, rows: Iterator[_StoredRow]) -> int:
    """Insert the rows of a part, and return their number. Raises UnreadableFile."""
    scope = switch.key
    others = sum(
        other.total for other in file_parts.list_parts(**scope) if other.collection == collection and other.part != part
    )
    total = 0
    for batch in _slice(rows):
        total += file_parts.insert_rows(**scope, collection=collection, rows=batch)
        if total > MAX_PART_ROWS:
            raise UnreadableFile(f"A part has at most {MAX_PART_ROWS:,} rows. Split the file.")
        if total + others > MAX_COMMISSIONS:
            raise UnreadableFile(f"The parts of {collection} have more than {MAX_COMMISSIONS:,} rows together.")
    return total


def _lock(organization_id: UUID, switch_id: UUID) -> Switch:
    switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
    if switch is None:
        raise not_found("switch", switch_id)
    if switch.source != SourceName.Files:
        raise Refused(409, "switch_not_files", "This switch reads its source by itself. Files are for another switch.")
    if switch.state not in _CHANGEABLE:
        raise Refused(409, "switch_not_changeable", f"A switch that is {switch.state} takes no files.")
    return switch


def _is_table_of(collection: str, name: str) -> bool:
    """Return whether a table of a file with several is meant: it has the collection's name, or none of another one."""
    folded = name.strip().casefold()
    return folded == collection or folded not in FIELDS


def _add_words(switch: Switch, collection: str, suggestion: ColumnSuggestion) -> dict[str, Mapping[str, str]]:
    words: dict[str, Mapping[str, str]] = {name: dict(meanings) for name, meanings in switch.words.items()}
    if suggestion.words:
        defined = {theirs.strip().casefold() for theirs in words.get(collection, {})}
        new = {theirs: ours for theirs, ours in suggestion.words.items() if theirs not in defined}
        words[collection] = {**new, **words.get(collection, {})}
    return words


def _read_rows(part: int, header: TableHeader, rows: Iterator[tuple[int, Sequence[str]]]) -> Iterator[_StoredRow]:
    """Yield the raw rows of a part by source id: the filled cells by heading, or the fault of a row without cells."""
    headings = [normalize_heading(name) for name in header.names]
    columns = [(position, name) for position, name in enumerate(headings) if name and headings.index(name) == position]
    separator = {} if header.separator == "," else {"separator": header.separator}
    for line, cells in rows:
        source_id = f"{part:02}/{line:08}"
        if len(cells) < len(headings) or any(cell.strip() for cell in cells[len(headings) :]):
            text = one_line.clean(header.separator.join(cells)[:_MAX_FAULT_CHARACTERS])
            yield source_id, {"fault": "wrong_cell_count", "text": text}
        elif any("\x00" in cell for cell in cells):
            yield source_id, {"fault": "nul_character"}
        else:
            filled = {name: cell for position, name in columns if (cell := cells[position].strip())}
            yield source_id, {"cells": filled, **separator}


def _slice(rows: Iterator[_StoredRow]) -> Iterator[list[_StoredRow]]:
    batch: list[_StoredRow] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += sum(map(len, row[1].get("cells", {}).values()))
        if len(batch) >= _SLICE_ROWS or characters >= _SLICE_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
