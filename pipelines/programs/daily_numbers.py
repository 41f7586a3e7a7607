"""Sales, leads, clicks and money of programs per day. An addition to the interface, for charts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from domain.programs.days import DayRange
from domain.refusals import not_found
from models.affiliates import affiliates
from models.programs import daily, programs
from models.programs.daily import DayScope, DaySum


@dataclass(frozen=True, slots=True)
class DayNumbers:
    """One day: clicks, sales and leads, and revenue and commission by currency, in minor units."""

    day: date
    clicks: int
    sales: int
    leads: int
    amount_by_currency: Mapping[str, int]
    commission_by_currency: Mapping[str, int]


def list_days(whose: DayScope, days: DayRange) -> list[DayNumbers]:
    """Return each of the days, of one program or affiliate or of all. Raises Refused 404 not_found.

    Budget: 2 round trips (conversions, clicks), one more for a program and an affiliate each, and the commit, whatever
    the number of rows.
    """
    organization_id, program_id, affiliate_id = whose.organization_id, whose.program_id, whose.affiliate_id
    if program_id is not None and programs.find(organization_id=organization_id, program_id=program_id) is None:
        raise not_found("program", program_id)
    if affiliate_id is not None and affiliates.find(organization_id=organization_id, affiliate_id=affiliate_id) is None:
        raise not_found("affiliate", affiliate_id)
    by_day: dict[date, list[DaySum]] = {}
    for row in daily.list_sums(whose, days):
        by_day.setdefault(row.day, []).append(row)
    clicks = daily.count_clicks(whose, days)
    return [_build_day(day, clicks.get(day, 0), by_day.get(day, ())) for day in days.list_days()]


def _build_day(day: date, clicks: int, sums: Iterable[DaySum]) -> DayNumbers:
    rows = list(sums)
    return DayNumbers(
        day=day,
        clicks=clicks,
        sales=sum(row.sales for row in rows),
        leads=sum(row.leads for row in rows),
        amount_by_currency={row.currency: row.amount_cents for row in rows if row.amount_cents},
        commission_by_currency={row.currency: row.commission_cents for row in rows if row.commission_cents},
    )
