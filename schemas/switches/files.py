"""The parts of exported files of a switch, in the API. Source: the switch-over rules, "Routes" (source files)."""

from marshmallow import fields

from domain.switches.files import file_fields
from schemas.base import Wire, one_of

#: The collections of files, with the figures that a service states.
FILE_COLLECTIONS = tuple(str(name) for name in file_fields.FIELDS)


class SwitchFilePart(Wire):
    """A part of a file as it was stored, with the likely column of each field.

    `service` is the known export that it was recognized as, `words` what the words of its status mean there.
    """

    collection = one_of(FILE_COLLECTIONS)
    part = fields.Integer()
    rows = fields.Integer()
    header = fields.List(fields.String())
    suggested = fields.Dict(keys=fields.String(), values=fields.String())
    service = fields.String(allow_none=True)
    words = fields.Dict(keys=fields.String(), values=fields.String())


class SwitchPartRows(Wire):
    """A stored part and its number of rows."""

    part = fields.Integer()
    rows = fields.Integer()


class SwitchFileWord(Wire):
    """A word of the status column: its rows, its meaning (null: none yet), and the one that it usually has.

    Without a status column one empty word means all rows, and `suggested` is what they mean without a meaning.
    """

    word = fields.String()
    rows = fields.Integer()
    meaning = fields.String(allow_none=True)
    suggested = fields.String(allow_none=True)


class SwitchFileRow(Wire):
    """A row as it will be: values by field, amounts in minor units.

    `problem` is the reason for which the row is left out, as far as files and mapping say; `warnings` are codes.
    """

    part = fields.Integer()
    line = fields.Integer()
    values = fields.Dict(keys=fields.String(), values=fields.Raw())
    problem = fields.String(allow_none=True)
    message = fields.String(allow_none=True)
    warnings = fields.List(fields.String())


class SwitchFileRecord(Wire):
    """The files of a collection: parts, columns, words, what is missing, and the first rows as they will be."""

    collection = one_of(FILE_COLLECTIONS)
    service = fields.String(allow_none=True)
    parts = fields.List(fields.Nested(SwitchPartRows))
    rows = fields.Integer()
    header = fields.List(fields.String())
    suggested = fields.Dict(keys=fields.String(), values=fields.String())
    columns = fields.Dict(keys=fields.String(), values=fields.String())
    words = fields.List(fields.Nested(SwitchFileWord))
    missing = fields.List(fields.String())
    preview = fields.List(fields.Nested(SwitchFileRow))
