"""The numbers of programs by day, in the API. An addition to the interface."""

from marshmallow import fields

from schemas.base import Wire


class DailyQuery(Wire):
    """The program and affiliate (None: all), and the range of days.

    Both ends are included; None means the service's default.
    """

    program_id = fields.UUID(load_default=None)
    affiliate_id = fields.UUID(load_default=None)
    first = fields.Date(data_key="from", load_default=None)
    last = fields.Date(data_key="to", load_default=None)


class DayNumbersRecord(Wire):
    """One day in UTC; a day without activity has zeros."""

    day = fields.Date()
    clicks = fields.Integer()
    sales = fields.Integer()
    leads = fields.Integer()
    amount_by_currency = fields.Dict(keys=fields.String(), values=fields.Integer())
    commission_by_currency = fields.Dict(keys=fields.String(), values=fields.Integer())


class DailyNumbers(Wire):
    """Every day of a range, in order."""

    first = fields.Date(data_key="from")
    last = fields.Date(data_key="to")
    days = fields.List(fields.Nested(DayNumbersRecord))
