"""What programs brought in by day, on the wire. An addition to the interface."""

from marshmallow import fields

from schemas.base import Wire


class DailyQuery(Wire):
    """Of which program and affiliate, None being all, and which days.

    Both ends are included, None is left to the service.
    """

    program_id = fields.UUID(load_default=None)
    affiliate_id = fields.UUID(load_default=None)
    first = fields.Date(data_key="from", load_default=None)
    last = fields.Date(data_key="to", load_default=None)


class DayRecord(Wire):
    """One day in UTC; a day on which nothing happened has zeros."""

    wire_name = "DayNumbers"

    day = fields.Date()
    clicks = fields.Integer()
    sales = fields.Integer()
    leads = fields.Integer()
    amount_by_currency = fields.Dict(keys=fields.String(), values=fields.Integer())
    commission_by_currency = fields.Dict(keys=fields.String(), values=fields.Integer())


class DailyNumbers(Wire):
    """Every day of a range, the first one first."""

    first = fields.Date(data_key="from")
    last = fields.Date(data_key="to")
    days = fields.List(fields.Nested(DayRecord))
