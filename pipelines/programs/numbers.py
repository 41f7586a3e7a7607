"""The numbers of programs: statistics, tracking status, recent events, budget status.

Source: core spec, "Campaigns (programs)".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain.money import fx
from domain.programs.numbers import Budget, Money, total
from domain.refusals import not_found
from models.money import fx_rates
from models.organization import organizations
from models.programs import numbers, programs
from models.programs.owed_totals.sums import ProgramSum, list_sums
from pipelines.programs import home_rate

_RECENT_DAYS = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Stats:
    """One program's statistics; counts are of the last 30 days, money is of all time."""

    program_id: UUID
    affiliates: int
    clicks: int
    sales: int
    leads: int
    paid_clicks: int
    pending: Money
    available: Money
    settling: Money

    @property
    def conversions(self) -> int:
        """Sales, leads and paid clicks together."""
        return self.sales + self.leads + self.paid_clicks

    @property
    def owed_eligible_in_home_cents(self) -> int:
        """The amount that could be paid now: the available money under its other name."""
        return self.available.home_cents

    @property
    def settling_in_home_cents(self) -> int:
        """The amount in open payouts: the settling money under its other name."""
        return self.settling.home_cents


def list_stats(*, organization_id: UUID, now: datetime) -> list[Stats]:
    """Return the statistics of every program that is not archived, newest first.

    Budget: 3 round trips (programs; home currency and rates; owed amounts) and the commit, whatever the number of rows.
    """
    since = now - _RECENT_DAYS
    rows = numbers.list_counts(organization_id=organization_id, since=since)
    if not rows:
        return []
    firsts = [row.first_conversion_at for row in rows if row.first_conversion_at is not None]
    factors = home_rate.read_home_factors(organization_id, first=min(firsts, default=now).date())
    by_program: dict[UUID, list[ProgramSum]] = {}
    for part in list_sums(organization_id=organization_id, factors=factors, now=now):
        by_program.setdefault(part.program_id, []).append(part)
    return [_build_stats(row, by_program.get(row.id, [])) for row in rows]


def _build_stats(program: numbers.ProgramCounts, owed: Sequence[ProgramSum]) -> Stats:
    return Stats(
        program_id=program.id,
        affiliates=program.affiliates,
        clicks=program.clicks,
        sales=program.sales,
        leads=program.leads,
        paid_clicks=program.paid_clicks,
        pending=_sum_bucket(owed, "pending"),
        available=_sum_bucket(owed, "available"),
        settling=_sum_bucket(owed, "settling"),
    )


def _sum_bucket(owed: Iterable[ProgramSum], bucket: str) -> Money:
    return total(part.money for part in owed if part.bucket == bucket)


def find_tracking_status(*, organization_id: UUID, program_id: UUID, now: datetime) -> numbers.Traffic:
    """Return whether a program's tracking works, and its numbers of the last 30 days. Raises Refused 404 not_found.

    Budget: 1 round trip.
    """
    since = now - _RECENT_DAYS
    traffic = numbers.find_traffic(organization_id=organization_id, program_id=program_id, since=since)
    if traffic is None:
        raise not_found("program", program_id)
    return traffic


def list_recent_events(*, organization_id: UUID, program_id: UUID, limit: int) -> list[numbers.ProgramEvent]:
    """Return a program's last clicks and conversions, newest first. Raises Refused 404 not_found."""
    _find(organization_id, program_id)
    return numbers.list_recent(organization_id=organization_id, program_id=program_id, limit=limit)


def compute_budget(*, organization_id: UUID, program_id: UUID) -> Budget:
    """Return a program's budget and its spending on clicks and leads. Raises Refused 404 not_found.

    A budget in a former home currency is valued by the newest rates.
    """
    program = _find(organization_id, program_id)
    home = organizations.read_home_currency(organization_id)
    budget_cents = _convert_budget(program, home)
    return Budget(
        budget_cents=budget_cents,
        spent=_compute_spent(organization_id, program_id, home),
        currency=home,
        is_unconvertible=budget_cents is None and program.budget_cents is not None,
    )


def _convert_budget(program: programs.Program, home: str) -> int | None:
    cents, currency = program.budget_cents, program.budget_currency
    if cents is None or currency is None or currency == home:
        return cents
    per_usd = fx_rates.find_newest_rates({currency, home})
    return fx.to_currency(amount_cents=cents, from_currency=currency, to_currency=home, per_usd=per_usd)


def _compute_spent(organization_id: UUID, program_id: UUID, home: str) -> Money:
    spending = numbers.find_spending_currencies(organization_id=organization_id, program_id=program_id)
    if spending.first_at is None:
        return total([])
    factors = home_rate.read_factors(home=home, currencies=spending.currencies, first=spending.first_at.date())
    return total(
        numbers.list_spending_by_currency(organization_id=organization_id, program_id=program_id, factors=factors)
    )


def _find(organization_id: UUID, program_id: UUID) -> programs.Program:
    program = programs.find(organization_id=organization_id, program_id=program_id)
    if program is None:
        raise not_found("program", program_id)
    return program
