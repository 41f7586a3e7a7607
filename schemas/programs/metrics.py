"""Metrics and leaderboards in the API. An addition to the interface.

Amounts are home-currency minor units; what had no rate on its day is in the maps alone, in its own minor units.
"""

from marshmallow import fields, validate

from domain.programs.days import PeriodComparison
from domain.programs.metrics import MAX_BOARD_DAYS, MAX_ENTRIES, BoardMetric, MetricsGroup
from schemas.base import Amount, Wire, one_of
from schemas.paging import QueryInteger
from schemas.programs.daily import DailyQuery


class MetricsQuery(DailyQuery):
    """The program and affiliate (None: all), the range of days, and the grouping of rows."""

    group_by = one_of(MetricsGroup, load_default=str(MetricsGroup.day))


def _cents(name: str) -> fields.Integer:
    return fields.Integer(attribute=f"{name}.home_cents")


def _sums_by_currency(name: str) -> fields.Dict:
    return fields.Dict(keys=fields.String(), values=fields.Integer(), attribute=f"{name}.held", allow_none=True)


class MetricsNumbers(Wire):
    """The counts and sums of a row."""

    clicks = fields.Integer()
    leads = fields.Integer()
    sales = fields.Integer()
    refunds = fields.Integer()
    revenue_cents = _cents("revenue")
    refunded_cents = _cents("refunded")
    commission_cents = _cents("commission")
    override_cents = _cents("override")
    revenue_unconvertible_by_currency = _sums_by_currency("revenue")
    refunded_unconvertible_by_currency = _sums_by_currency("refunded")
    commission_unconvertible_by_currency = _sums_by_currency("commission")
    override_unconvertible_by_currency = _sums_by_currency("override")


class MetricsRowRecord(MetricsNumbers):
    """A row: a day, week or month by its first day, a program or an affiliate by id and name, or a country."""

    key = fields.String(allow_none=True)
    name = fields.String(allow_none=True)


class MetricsRecord(Wire):
    """The rows of a range, and their totals."""

    first = fields.Date(data_key="from", attribute="days.first")
    last = fields.Date(data_key="to", attribute="days.last")
    group_by = one_of(MetricsGroup, attribute="group")
    currency = fields.String()
    totals = fields.Nested(MetricsNumbers, attribute="metrics.totals")
    rows = fields.List(fields.Nested(MetricsRowRecord), attribute="metrics.rows")


class PeriodSummaryQuery(DailyQuery):
    """The program and affiliate (None: all), the range of days, the range to compare with, and the grouping of rows."""

    compare = one_of(PeriodComparison, load_default=str(PeriodComparison.period))
    group_by = one_of((MetricsGroup.day, MetricsGroup.week, MetricsGroup.month), load_default=str(MetricsGroup.day))


class SummaryNumbers(MetricsNumbers):
    """The counts and sums of a period, or of a day, week or month of it, and what follows from them."""

    net_revenue_cents = _cents("net_revenue")
    net_revenue_unconvertible_by_currency = _sums_by_currency("net_revenue")
    conversion_rate_percent = Amount(allow_none=True)
    epc_cents = Amount(allow_none=True)


class SummaryRowRecord(SummaryNumbers):
    """A day, week or month, by its first day."""

    key = fields.String()


class SummaryPeriodRecord(Wire):
    """One period: its days, its totals, and its rows in order."""

    first = fields.Date(data_key="from", attribute="days.first")
    last = fields.Date(data_key="to", attribute="days.last")
    totals = fields.Nested(SummaryNumbers)
    rows = fields.List(fields.Nested(SummaryRowRecord))


class ComparedDaysRecord(Wire):
    """The complete days of a period with their totals; `from` and `to` are null if it has none."""

    first = fields.Date(data_key="from", allow_none=True)
    last = fields.Date(data_key="to", allow_none=True)
    totals = fields.Nested(SummaryNumbers)


class ComparedRecord(Wire):
    """The days that the changes compare: as many of the period before as are complete in the period."""

    current = fields.Nested(ComparedDaysRecord)
    previous = fields.Nested(ComparedDaysRecord)


class SummaryChangeRecord(Wire):
    """The changes of the totals of the compared days in percent, to one decimal."""

    clicks = Amount(allow_none=True)
    leads = Amount(allow_none=True)
    sales = Amount(allow_none=True)
    refunds = Amount(allow_none=True)
    conversion_rate = Amount(allow_none=True)
    net_revenue = Amount(allow_none=True)
    refunded = Amount(allow_none=True)
    commission = Amount(allow_none=True)
    epc = Amount(allow_none=True)


class SummaryRecord(Wire):
    """A period, the one before it, the days of both that are compared, and the changes between these."""

    currency = fields.String()
    group_by = one_of(MetricsGroup, attribute="group")
    current = fields.Nested(SummaryPeriodRecord)
    previous = fields.Nested(SummaryPeriodRecord)
    compared = fields.Nested(ComparedRecord)
    change = fields.Nested(SummaryChangeRecord, attribute="compared.change")


class LeaderboardQuery(Wire):
    """The program (None: all), the ranking, the number of entries, and the days: a range, or a number up to today."""

    program_id = fields.UUID(load_default=None)
    metric = one_of(BoardMetric, load_default=str(BoardMetric.sales))
    first = fields.Date(data_key="from", load_default=None)
    last = fields.Date(data_key="to", load_default=None)
    days = QueryInteger(load_default=30, validate=validate.Range(min=1, max=MAX_BOARD_DAYS))
    limit = QueryInteger(load_default=10, validate=validate.Range(min=1, max=MAX_ENTRIES))


class LeaderboardEntryRecord(Wire):
    """An entry of a leaderboard; equal entries have the same rank."""

    rank = fields.Integer()
    affiliate_id = fields.String()
    full_name = fields.String()
    program_id = fields.String()
    value = fields.Integer()
    currency = fields.String(allow_none=True)
    unconvertible_by_currency = fields.Dict(
        keys=fields.String(), values=fields.Integer(), attribute="held", allow_none=True
    )
    clicks = fields.Integer()
    leads = fields.Integer()
    sales = fields.Integer()
    net_revenue_cents = fields.Integer()
    commission_cents = fields.Integer()
