"""The balance of the signed-in affiliate in the API: sums by currency, in its minor units."""

from marshmallow import fields

from schemas.affiliates.balance import BalanceRecord
from schemas.base import Instant, Wire
from schemas.payouts.payout import day


class OwnComingMoneyRecord(Wire):
    """The sum that becomes payable on a day (UTC) in one currency."""

    day = day()
    currency = fields.String()
    amount_cents = fields.Integer()
    payable_at = Instant()


class OwnBalanceRecord(Wire):
    """The sums that all brands owe the affiliate, and the next days on which more becomes payable."""

    balances = fields.List(fields.Nested(BalanceRecord))
    coming = fields.List(fields.Nested(OwnComingMoneyRecord))
