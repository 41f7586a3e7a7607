"""The all-time totals of affiliates in the API."""

from marshmallow import fields

from schemas.base import Instant, Wire


class UnconvertedRecord(Wire):
    """Amounts in a currency for which there was no rate on the day."""

    currency = fields.String()
    revenue_cents = fields.Integer()
    commission_cents = fields.Integer()


class AffiliateTotalsRecord(Wire):
    """All-time totals in the home currency, net of refunds, each day at its rate.

    All changes until `asOf` are contained; it is null before the first count.
    """

    currency = fields.String()
    clicks = fields.Integer()
    sales = fields.Integer()
    revenue_cents = fields.Integer()
    commission_cents = fields.Integer()
    last_sale_on = fields.Date(allow_none=True)
    unconverted = fields.List(fields.Nested(UnconvertedRecord))
    as_of = Instant(allow_none=True)
