"""What imports of affiliates and of conversions have alike on the wire: rows or a file, and the look at them."""

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import ValidationError, fields

from domain.imports import files
from domain.imports.files import ImportFile
from domain.imports.warnings import CODES
from domain.refused import Refused
from schemas.base import Wire, one_of, text
from schemas.bounded import Items

# The guards say how large a body may be; this only keeps it a text.
_LONGEST_FILE = 4 * 1024 * 1024


def import_file() -> fields.String:
    """Return the field of a file: the text of comma or semicolon separated values, with our field names on top."""
    return text(longest=_LONGEST_FILE, load_default=None, allow_none=True)


def too_many_rows(field: str) -> Refused:
    """Return the refusal of more rows than one import takes."""
    message = f"One import takes at most {files.MAX_ROWS} rows; this one has more. Divide it."
    return Refused(400, "row_cap_exceeded", message, field=field)


def import_rows(item: Any, field: str) -> Items:
    """Return the field of the rows of an import; more than it takes are refused before they are read."""
    return Items(item, most=files.MAX_ROWS, least=1, load_default=None, refusal=lambda: too_many_rows(field))


def rows_of(sent: Mapping[str, Any], name: str, read: Callable[[str], ImportFile]) -> dict[str, Any]:
    """Return the rows that were sent as `name`, with the `lines` and the `form` of a file; both None without one.

    Raises ValidationError for neither or both, and for a file that cannot be read; Refused 400 row_cap_exceeded.
    """
    rows, file = sent[name], sent["file"]
    if file is None:
        if rows is None:
            raise ValidationError("Missing data for required field.", name)
        return {"lines": None, "form": None}
    if rows is not None:
        raise ValidationError(f"Send either {name} or a file.", "file")
    try:
        found = read(file)
    except files.UnreadableFile as unreadable:
        raise ValidationError(str(unreadable), "file") from unreadable
    if not found.rows:
        raise ValidationError("The file has a header and no rows.", "file")
    if len(found.rows) > files.MAX_ROWS:
        raise too_many_rows("file")
    return {name: [row.values for row in found.rows], "lines": [row.line for row in found.rows], "form": found.form}


class UnderstoodFile(Wire):
    """How a file was read: what stands between cells, and whether amounts are in major or in minor units."""

    separator = one_of(files.SEPARATORS)
    amounts = one_of(("amount", "amountCents"), allow_none=True)
    has_byte_order_mark = fields.Boolean()
    has_separator_line = fields.Boolean()
    columns = fields.List(fields.String())


class RowWarningRecord(Wire):
    """What a row gets otherwise than it says: `value` is what it says, `replacement` what it gets."""

    wire_name = "ImportRowWarning"

    code = one_of(CODES)
    message = fields.String()
    value = fields.String(allow_none=True)
    replacement = fields.String(allow_none=True)


class PreviewedRow(Wire):
    """What would become of a row: `line` is its line in a file. One that is new may have warnings."""

    wire_name = "ImportPreviewRow"

    index = fields.Integer()
    line = fields.Integer(allow_none=True)
    outcome = one_of(("new", "known", "wrong", "leftOut"))
    reason = fields.String(allow_none=True)
    message = fields.String(allow_none=True)
    warnings = fields.List(fields.Nested(RowWarningRecord))


class ImportWarning(RowWarningRecord):
    """A warning of an import, with its row: its place from 0, and its line in a file."""

    wire_name = "ImportJobWarning"

    index = fields.Integer()
    line = fields.Integer(allow_none=True)


class CommissionBalance(Wire):
    """Commission of one currency, in its minor units, and of how many rows."""

    currency = fields.String()
    commission_cents = fields.Integer()
    count = fields.Integer()


class ImportPreview(Wire):
    """What an import of these rows would come to, and what would become of each; `skip_reasons` counts why not."""

    rows_total = fields.Integer()
    would_import = fields.Integer()
    would_skip = fields.Integer()
    skip_reasons = fields.Dict(keys=fields.String(), values=fields.Integer())
    understood = fields.Nested(UnderstoodFile, attribute="form", allow_none=True)
    rows = fields.List(fields.Nested(PreviewedRow))
