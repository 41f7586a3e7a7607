"""The answer of the readiness check."""

from marshmallow import fields

from schemas.base import Wire


class Readiness(Wire):
    """`ok`, or what is the matter with each."""

    database = fields.String()
    broker = fields.String()
