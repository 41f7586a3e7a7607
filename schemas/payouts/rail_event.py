"""The response to a payout rail."""

from marshmallow import fields

from schemas.base import Wire


class RailEventAnswerRecord(Wire):
    """The notification was accepted."""

    ok = fields.Constant(True)
