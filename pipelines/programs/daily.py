"""What programs brought in, day by day. An addition to the interface, for charts."""

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
    """One day: visits, sales and leads, and by currency what was sold and earned, in minor units."""

    day: date
    clicks: int
    sales: int
    leads: int
    amount_by_currency: Mapping[str, int]
    commission_by_currency: Mapping[str, int]


def numbers(whose: DayScope, days: DayRange) -> list[DayNumbers]:
    """Return every one of the days, of one program or affiliate or of all. Raises Refused 404 not_found.

    Budget: 2 round trips (conversions, clicks), one more for a program and an affiliate each, and the commit, however
    much there is.
    """
    organization_id, program_id, affiliate_id = whose.organization_id, whose.program_id, whose.affiliate_id
    if program_id is not None and programs.find(organization_id=organization_id, program_id=program_id) is None:
        raise not_found("program", program_id)
    if affiliate_id is not None and affiliates.find(organization_id=organization_id, affiliate_id=affiliate_id) is None:
        raise not_found("affiliate", affiliate_id)
    by_day: dict[date, list[DaySum]] = {}
    for found in daily.list_sums(whose, days):
        by_day.setdefault(found.day, []).append(found)
    clicks = daily.count_clicks(whose, days)
    return [_day(day, clicks.get(day, 0), by_day.get(day, ())) for day in days.list_days()]


def _day(day: date, clicks: int, sums: Iterable[DaySum]) -> DayNumbers:
    held = list(sums)
    return DayNumbers(
        day=day,
        clicks=clicks,
        sales=sum(found.sales for found in held),
        leads=sum(found.leads for found in held),
        amount_by_currency={found.currency: found.amount_cents for found in held if found.amount_cents},
        commission_by_currency={found.currency: found.commission_cents for found in held if found.commission_cents},
    )
