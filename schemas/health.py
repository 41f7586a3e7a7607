"""The answer of the readiness check."""

from marshmallow import fields

from schemas.base import Wire


class Readiness(Wire):
    """`ok` or the fault of each component."""

    database = fields.String()
    broker = fields.String()
