"""The response to a payout rail."""

from marshmallow import fields

from schemas.base import Wire


class TakenRecord(Wire):
    """The notification was accepted."""

    wire_name = "RailEventAnswer"

    ok = fields.Constant(True)
