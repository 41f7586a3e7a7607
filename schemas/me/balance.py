"""What the affiliate who signed in has, on the wire: sums by currency, in its minor units."""

from marshmallow import fields

from schemas.affiliates.balance import BalanceRecord
from schemas.base import Instant, Wire
from schemas.payouts.payout import day


class ComingMoneyRecord(Wire):
    """What becomes payable on a day (UTC) in one currency."""

    wire_name = "OwnComingMoney"

    day = day()
    currency = fields.String()
    amount_cents = fields.Integer()
    payable_at = Instant()


class OwnBalanceRecord(Wire):
    """What the affiliate is owed by all brands together, and when more of it becomes payable."""

    wire_name = "OwnBalance"

    balances = fields.List(fields.Nested(BalanceRecord))
    coming = fields.List(fields.Nested(ComingMoneyRecord))
