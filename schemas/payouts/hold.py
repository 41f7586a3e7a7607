"""Commission on hold, in the API. Source: core spec, "Organization profile" (payoutGraceDays)."""

from marshmallow import fields

from schemas.base import Wire
from schemas.payouts.payout import day


class PayoutHoldRecord(Wire):
    """The sum that becomes due on a day in UTC, in minor units of one currency."""

    day = day()
    currency = fields.String()
    amount_cents = fields.Integer()
    conversion_count = fields.Integer()
