"""The common parts of imports of affiliates and of conversions in the API: rows or a file, and the preview."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from marshmallow import ValidationError, fields

from domain.imports import files
from domain.imports.column_mapping import ColumnMapping
from domain.imports.files import ImportFile
from domain.imports.warnings import CODES
from domain.money import currencies
from domain.refusals import Refused
from schemas.base import Wire, one_of, text
from schemas.collection_fields import Entries, Items

# The guards limit the size of a body; this only limits the text.
_MAX_FILE_CHARS = 4 * 1024 * 1024
_MAX_COLUMNS, _MAX_WORDS = 30, 100


def import_file() -> fields.String:
    """Return the field of a file: comma or semicolon separated values, with our field names in the header."""
    return text(longest=_MAX_FILE_CHARS, load_default=None, allow_none=True)


def too_many_rows(field: str) -> Refused:
    """Return the refusal of an import with too many rows."""
    message = f"One import can have at most {files.MAX_ROWS} rows; this one has more. Split it."
    return Refused(400, "row_cap_exceeded", message, field=field)


def import_rows(item: Any, field: str) -> Items:
    """Return the field of the rows of an import; too many are refused before they are loaded."""
    return Items(item, most=files.MAX_ROWS, least=1, load_default=None, refusal=lambda: too_many_rows(field))


class MappedFile(Wire):
    """The columns and words of another service's file, by our fields and by its words."""

    columns = Entries(keys=text(longest=40), values=text(longest=255), most=_MAX_COLUMNS, load_default=None)
    words = Entries(keys=text(longest=255), values=text(longest=40), most=_MAX_WORDS, load_default=None)


def _build_mapping(body: Mapping[str, Any], words: Sequence[str]) -> ColumnMapping | None:
    """Return the mapping of a body; None without one. Raises ValidationError."""
    currency = body.get("currency")
    given = [name for name in ("columns", "words", "currency") if body.get(name) is not None]
    if given and body["file"] is None:
        raise ValidationError("It describes a file, and there is none.", given[0])
    if not given:
        return None
    if body["columns"] is None:
        raise ValidationError("It needs columns, which name the file's columns.", given[0])
    unknown = [ours for ours in (body["words"] or {}).values() if ours not in words]
    if unknown:
        raise ValidationError(f"{unknown[0]!r} is unknown. Words can mean: {', '.join(words)}.", "words")
    if currency is not None and currencies.normalize(currency) is None:
        raise ValidationError("It is not a supported currency.", "currency")
    theirs = {word.strip().casefold(): ours for word, ours in (body["words"] or {}).items()}
    return ColumnMapping(body["columns"], theirs, currency)


def parse_rows(
    body: Mapping[str, Any], name: str, read: Callable[[str, ColumnMapping | None], ImportFile], words: Sequence[str]
) -> dict[str, Any]:
    """Return the rows of the field `name`, or of the file with its `lines` and `form` (both None without a file).

    `words` are ours, which those of the file can mean.
    Raises ValidationError for neither or both, for an unreadable file and for a mapping that does not fit; Refused 400
    row_cap_exceeded.
    """
    rows, file, mapping = body[name], body["file"], _build_mapping(body, words)
    if file is None:
        if rows is None:
            raise ValidationError("Missing data for required field.", name)
        return {"lines": None, "form": None}
    if rows is not None:
        raise ValidationError(f"Send either {name} or a file.", "file")
    try:
        parsed = read(file, mapping)
    except files.UnreadableFile as unreadable:
        raise ValidationError(str(unreadable), "file") from unreadable
    if not parsed.rows:
        message = "Each of its rows is left out." if parsed.form.left_out else "The file has a header and no rows."
        raise ValidationError(message, "file")
    if len(parsed.rows) > files.MAX_ROWS:
        raise too_many_rows("file")
    return {
        name: [row.values for row in parsed.rows],
        "lines": [row.line for row in parsed.rows],
        "form": parsed.form,
    }


class UnderstoodFile(Wire):
    """The detected format of a file: its separator, and whether amounts are in major or in minor units."""

    separator = one_of(files.SEPARATORS)
    amounts = one_of(("amount", "amountCents"), allow_none=True)
    has_byte_order_mark = fields.Boolean()
    has_separator_line = fields.Boolean()
    columns = fields.List(fields.String())
    left_out = fields.Integer()


class ImportRowWarningRecord(Wire):
    """A changed value of a row: `value` is the one in the row, `replacement` the imported one."""

    code = one_of(CODES)
    message = fields.String()
    value = fields.String(allow_none=True)
    replacement = fields.String(allow_none=True)


class ImportPreviewRow(Wire):
    """The preview of a row: `line` is its line in a file. Only a new one can have warnings."""

    index = fields.Integer()
    line = fields.Integer(allow_none=True)
    outcome = one_of(("new", "known", "wrong", "leftOut"))
    reason = fields.String(allow_none=True)
    message = fields.String(allow_none=True)
    warnings = fields.List(fields.Nested(ImportRowWarningRecord))


class ImportJobWarning(ImportRowWarningRecord):
    """A warning of an import, with the index of its row from 0 and its line in a file."""

    index = fields.Integer()
    line = fields.Integer(allow_none=True)


class CommissionBalance(Wire):
    """Commission of one currency, in its minor units, and the number of rows."""

    currency = fields.String()
    commission_cents = fields.Integer()
    count = fields.Integer()


class ImportPreview(Wire):
    """The preview of an import and of each row; `skip_reasons` counts why rows would be skipped."""

    rows_total = fields.Integer()
    would_import = fields.Integer()
    would_skip = fields.Integer()
    skip_reasons = fields.Dict(keys=fields.String(), values=fields.Integer())
    understood = fields.Nested(UnderstoodFile, attribute="form", allow_none=True)
    rows = fields.List(fields.Nested(ImportPreviewRow))
