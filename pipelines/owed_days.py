"""Computes what changed days add up to: the amounts that a program owes per day, and the totals of affiliates.

A query for an owed amount then reads the conversions of a few days only; a computation that is late or missing makes it
slower, never wrong. Totals of affiliates are as of their last count.
"""

from datetime import date, datetime
from uuid import UUID

from domain import jobs
from domain.money.valuation import Factors
from models.affiliates.listing import totals
from models.programs.owed_totals import daily
from pipelines import work
from pipelines.programs.home_rate import read_home_factors

#: Sorts before every organization id.
FIRST = UUID(int=0)
_ORGANIZATIONS_PER_JOB = 500
# A day may have had a million conversions.
_DAYS_PER_JOB = 200
# The days of affiliates have their sums already.
_AFFILIATE_DAYS_PER_JOB = 5_000


def any_org_start(*, since: date | None = None, after: UUID = FIRST, folded_until: datetime | None = None) -> None:
    """Stage the computation for the next organizations that have days to compute, and the job for the rest.

    With `since`: for organizations with sales since that day, because the rates changed. All changes until
    `folded_until` are in their days.
    """
    organization_ids = daily.any_org_list_next(since=since, after=after, limit=_ORGANIZATIONS_PER_JOB)
    since_text, until_text = str(since or ""), str(folded_until or "")
    for organization_id in organization_ids:
        work.enqueue(jobs.DAYS_RECKON_ONE, organization_id=organization_id, since=since_text, until=until_text)
    if len(organization_ids) == _ORGANIZATIONS_PER_JOB:
        work.enqueue(
            jobs.DAYS_RECKON, organization_id=None, after=organization_ids[-1], since=since_text, until=until_text
        )


def enqueue(organization_id: UUID) -> None:
    """Stage that all days of an organization are valued again, because its home currency changed."""
    work.enqueue(jobs.DAYS_RECKON_ONE, organization_id=organization_id, since=date.min)


def compute(organization_id: UUID, *, since: date | None = None, folded_until: datetime | None = None) -> None:
    """Compute the organization's outdated days, in batches (a full one stages the next). Idempotent.

    With `since`: days since then whose rate changed are counted again for the totals of affiliates.
    Budget: 4 statements that return something (first day; home currency and rates; owed days; counted days).
    """
    factors = _read_factors(organization_id)
    owed = daily.recompute(organization_id, factors=factors, limit=_DAYS_PER_JOB)
    if since is not None:
        totals.stage_revaluation(organization_id, since=since, factors=factors)
    counted = totals.count_days(organization_id, factors=factors, limit=_AFFILIATE_DAYS_PER_JOB)
    if counted < _AFFILIATE_DAYS_PER_JOB and folded_until is not None:
        totals.stage_counted_until(organization_id, folded_until)
    if owed == _DAYS_PER_JOB or counted == _AFFILIATE_DAYS_PER_JOB:
        work.enqueue(jobs.DAYS_RECKON_ONE, organization_id=organization_id, until=folded_until or "")


def _read_factors(organization_id: UUID) -> Factors:
    home = daily.find_home_currency(organization_id)
    if home.first_at is None:
        return Factors(home.currency, (), date.min, ())
    return read_home_factors(organization_id, first=home.first_at.date())
