"""What a payout rail is answered."""

from marshmallow import fields

from schemas.base import Wire


class TakenRecord(Wire):
    """It was taken."""

    wire_name = "RailEventAnswer"

    ok = fields.Constant(True)
