"""Previews of source files: the first rows as they will be, and what each collection still needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.switches.base import SourceRow, StatedFigure, SwitchContext, UnreadableRow
from adapters.switches.files import SOURCE, read_figure
from domain.imports.rows import BadRow
from domain.refusals import Refused, not_found
from domain.statuses import AffiliateStatus
from domain.switches.files import column_suggestions
from domain.switches.files.field_texts import explain
from domain.switches.files.file_fields import (
    FIELDS,
    FIGURES,
    WITHOUT_WORD,
    WORD_FIELDS,
    MissingColumn,
    link_columns,
    normalize_heading,
)
from domain.switches.files.mapped_cells import MappedCells
from domain.switches.reasons import LeftOutReason, SwitchWarning
from domain.switches.records import (
    CommissionKind,
    Record,
    SourceAffiliate,
    SourceCode,
    SourceCommission,
    SourceCustomer,
    SourceLink,
)
from domain.switches.sources import Collection, SourceName
from models.switches import switches
from models.switches.staging import file_parts
from models.switches.staging.file_parts import FilePart, StoredFileRow
from models.switches.switches import Switch
from pipelines.switches.files import file_mapping, row_checks

#: Rows that a preview shows.
PREVIEW_ROWS: Final = 10
_MAX_WORDS: Final = 100
_BAD_CODE: Final = "A coupon code has 3 to 32 letters, digits, hyphens and underscores."
_BAD_FIGURE: Final = "Its name, currency or total cannot be read. A total is a whole number of cents."
_MAX_WORD_ROWS: Final = 100_000


@dataclass(frozen=True, slots=True)
class FilePreviewRow:
    """A row as it will be: `values` by field, amounts in minor units, times in ISO 8601.

    `problem` is the reason for which the row is left out, as far as files and mapping alone say; `message` says more of
    an unreadable one; `warnings` are codes.
    """

    part: int
    line: int
    values: Mapping[str, str | int]
    problem: str | None = None
    message: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileWord:
    """A word in the column of states, the number of its rows, its meaning, and the one that it usually has.

    Without such a column there is one empty word for all rows, and `suggested` is what they mean without a meaning.
    """

    word: str
    rows: int
    meaning: str | None
    suggested: str | None


@dataclass(frozen=True, slots=True)
class FileCollection:
    """The files of a collection: parts with their rows, the header of the first, columns by field, words, gaps."""

    collection: str
    service: str | None
    parts: Mapping[int, int]
    rows: int
    header: tuple[str, ...]
    suggested: Mapping[str, str]
    columns: Mapping[str, str]
    words: tuple[FileWord, ...]
    missing: tuple[str, ...]


def preview_rows(
    *,
    organization_id: UUID,
    switch_id: UUID,
    collections: Sequence[str],
    now: datetime,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    words: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, list[FilePreviewRow]]:
    """Return the first ten rows of collections as they will be, under the switch's mapping or under another one.

    Budget: 8 round trips, and one for each collection. Raises Refused: 404 not_found, 409 switch_not_files.
    """
    switch = _find(organization_id, switch_id)
    judging = row_checks.load_judging(switch, columns=columns, words=words, now=now)
    rows = {name: file_parts.list_rows(**switch.key, collection=name, take=PREVIEW_ROWS) for name in collections}
    reasons = row_checks.find_reasons(judging, rows)
    return {
        name: [_preview(name, row, judging.source_context, reasons.get((name, row.source_id))) for row in listed]
        for name, listed in rows.items()
    }


def list_collections(*, organization_id: UUID, switch_id: UUID) -> list[FileCollection]:
    """Return the collections of which a switch has files, with headers, suggestions, words and what is missing.

    Raises Refused: 404 not_found, 409 switch_not_files.
    """
    switch = _find(organization_id, switch_id)
    parts = file_parts.list_parts(organization_id=organization_id, switch_id=switch_id)
    missing = file_mapping.list_missing(switch, parts)
    by_collection = {name: [part for part in parts if part.collection == name] for name in FIELDS}
    return [_describe(switch, name, own, missing) for name, own in by_collection.items() if own]


def _find(organization_id: UUID, switch_id: UUID) -> Switch:
    switch = switches.find(organization_id=organization_id, switch_id=switch_id)
    if switch is None:
        raise not_found("switch", switch_id)
    if switch.source != SourceName.Files:
        raise Refused(409, "switch_not_files", "This switch reads its source by itself. It has no files.")
    return switch


def _describe(
    switch: Switch, collection: str, parts: Sequence[FilePart], missing: Sequence[MissingColumn]
) -> FileCollection:
    header = tuple(parts[0].form["header"])
    columns = switch.columns.get(collection, {})
    return FileCollection(
        collection=collection,
        service=parts[0].form.get("service"),
        parts={part.part: part.total for part in parts},
        rows=sum(part.total for part in parts),
        header=header,
        suggested=column_suggestions.suggest_columns(collection, header).columns,
        columns=columns,
        words=_list_words(switch, collection, columns, sum(part.total for part in parts)),
        missing=tuple(gap.message for gap in missing if gap.collection == collection),
    )


def _list_words(switch: Switch, collection: str, columns: Mapping[str, str], total: int) -> tuple[FileWord, ...]:
    if collection not in WORD_FIELDS or not total:
        return ()
    meanings = {theirs.strip().casefold(): ours for theirs, ours in switch.words.get(collection, {}).items()}
    heading = columns.get(WORD_FIELDS[collection])
    if heading is None:
        return (FileWord("", total, meanings.get(""), WITHOUT_WORD[collection]),)
    values = file_parts.count_values(
        **switch.key,
        collection=collection,
        heading=normalize_heading(heading),
        max_rows=_MAX_WORD_ROWS,
        take=_MAX_WORDS,
    )
    return tuple(
        FileWord(
            value.value,
            value.rows,
            meanings.get(value.value.casefold()),
            column_suggestions.suggest_word(collection, value.value),
        )
        for value in values
    )


def _preview(
    collection: str, row: StoredFileRow, context: SwitchContext, reason: LeftOutReason | None
) -> FilePreviewRow:
    data, part, line = row.data, *map(int, row.source_id.split("/")[-2:])
    columns = context.columns.get(collection, {})
    if "of" in data:
        columns = link_columns(context.columns.get(data["of"], {}), has_id=data.get("has_id", False))
    try:
        filled = MappedCells.read(collection, data, columns).filled
        if collection == FIGURES:
            return _preview_figure(part, line, filled, read_figure(data, columns, context.options.currency))
        record = SOURCE.understand(SourceRow(Collection(collection), row.source_id, data), context)
    except BadRow as bad:
        return FilePreviewRow(part, line, {}, LeftOutReason.UnreadableRow, explain(bad.code))
    except UnreadableRow as unreadable:
        return FilePreviewRow(part, line, filled, LeftOutReason.UnreadableRow, str(unreadable))
    has_warning = isinstance(record, SourceAffiliate) and record.status is None
    warnings = (SwitchWarning.UnknownStatus.value,) if has_warning else ()
    is_bad_code = collection == Collection.Codes and reason == LeftOutReason.UnreadableRow
    message = _BAD_CODE if is_bad_code else None
    return FilePreviewRow(part, line, {**filled, **_list_values(record)}, reason, message, warnings)


def _preview_figure(part: int, line: int, filled: Mapping[str, str], figure: StatedFigure | None) -> FilePreviewRow:
    if figure is None:
        return FilePreviewRow(part, line, filled, LeftOutReason.UnreadableRow, _BAD_FIGURE)
    values: dict[str, str | int] = {
        "name": figure.name,
        "of": figure.subject,
        "currency": figure.currency,
        "cents": figure.value,
    }
    return FilePreviewRow(part, line, {name: value for name, value in values.items() if value != ""})


def _list_values(record: Record) -> dict[str, str | int]:
    """Return the values of a record by field, where they differ from the cells."""
    values: dict[str, Any] = {}
    if isinstance(record, SourceAffiliate):
        values = {
            "fullName": record.full_name or None,
            "status": (record.status or AffiliateStatus.Pending).value,
            "campaign": record.campaign,
        }
    elif isinstance(record, SourceLink):
        values = {"token": record.token}
    elif isinstance(record, SourceCode):
        values = {"code": record.code.upper()}
    elif isinstance(record, SourceCustomer):
        values = {"firstPaidAt": record.first_paid_at, "payments": record.payments}
    elif isinstance(record, SourceCommission):
        values = {
            "currency": record.currency,
            "amountCents": record.amount_cents,
            "commissionCents": record.commission_cents,
            "refunded": record.refunded_cents or None,
            "occurredAt": record.occurred_at,
            "state": _name_kind(record.kind),
        }
    texts = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}
    return {name: value for name, value in texts.items() if value is not None}


def _name_kind(kind: CommissionKind | None) -> str | None:
    if kind in (CommissionKind.Refunded, CommissionKind.Denied):
        return "lost"
    return kind.value if kind else None
