"""The common parts of imports of affiliates and of conversions in the API: rows or a file, and the preview."""

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import ValidationError, fields

from domain.imports import files
from domain.imports.files import ImportFile
from domain.imports.warnings import CODES
from domain.refusals import Refused
from schemas.base import Wire, one_of, text
from schemas.collection_fields import Items

# The guards limit the size of a body; this only limits the text.
_MAX_FILE_CHARS = 4 * 1024 * 1024


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


def parse_rows(body: Mapping[str, Any], name: str, read: Callable[[str], ImportFile]) -> dict[str, Any]:
    """Return the rows of the field `name`, or of the file with its `lines` and `form` (both None without a file).

    Raises ValidationError for neither or both, and for an unreadable file; Refused 400 row_cap_exceeded.
    """
    rows, file = body[name], body["file"]
    if file is None:
        if rows is None:
            raise ValidationError("Missing data for required field.", name)
        return {"lines": None, "form": None}
    if rows is not None:
        raise ValidationError(f"Send either {name} or a file.", "file")
    try:
        parsed = read(file)
    except files.UnreadableFile as unreadable:
        raise ValidationError(str(unreadable), "file") from unreadable
    if not parsed.rows:
        raise ValidationError("The file has a header and no rows.", "file")
    if len(parsed.rows) > files.MAX_ROWS:
        raise too_many_rows("file")
    return {name: [row.values for row in parsed.rows], "lines": [row.line for row in parsed.rows], "form": parsed.form}


class UnderstoodFile(Wire):
    """The detected format of a file: its separator, and whether amounts are in major or in minor units."""

    separator = one_of(files.SEPARATORS)
    amounts = one_of(("amount", "amountCents"), allow_none=True)
    has_byte_order_mark = fields.Boolean()
    has_separator_line = fields.Boolean()
    columns = fields.List(fields.String())


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
