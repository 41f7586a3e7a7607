"""Balances of affiliates in the API: sums of the ledger by currency and state, in minor units."""

from marshmallow import fields

from schemas.base import Wire


class BalanceRecord(Wire):
    """The balance in one currency."""

    currency = fields.String()
    on_hold_cents = fields.Integer()
    payable_cents = fields.Integer()
    on_its_way_cents = fields.Integer()
    paid_cents = fields.Integer()


class AffiliateBalancesRecord(Wire):
    """An affiliate's balance, one record per currency."""

    wire_name = "AffiliateBalance"

    affiliate_id = fields.UUID()
    balances = fields.List(fields.Nested(BalanceRecord))
