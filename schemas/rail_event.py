"""What a payout rail is answered."""

from marshmallow import fields

from schemas.base import Wire


class TakenRecord(Wire):
    """It was taken."""

    ok = fields.Constant(True)
