"""Computes per program and day what is owed, so that a query for the total reads the conversions of a few days only.

A computation that is late or missing makes such a query slower, never wrong.
"""

from datetime import date
from uuid import UUID

from domain import jobs
from models.programs.owed_totals import daily
from pipelines import work
from pipelines.programs.home_rate import read_home_factors

#: Sorts before every organization id.
FIRST = UUID(int=0)
_ORGANIZATIONS_PER_JOB = 500
# A day may have had a million conversions.
_DAYS_PER_JOB = 200


def any_org_start(*, since: date | None = None, after: UUID = FIRST) -> None:
    """Stage the computation for the next organizations that have days to compute, and the job for the rest.

    With `since`: for organizations that owe anything since that day, because the rates changed.
    """
    organization_ids = daily.any_org_list_next(since=since, after=after, limit=_ORGANIZATIONS_PER_JOB)
    for organization_id in organization_ids:
        work.enqueue(jobs.DAYS_RECKON_ONE, organization_id=organization_id)
    if len(organization_ids) == _ORGANIZATIONS_PER_JOB:
        work.enqueue(jobs.DAYS_RECKON, organization_id=None, since=since or "", after=organization_ids[-1])


def compute(organization_id: UUID) -> None:
    """Compute the organization's outdated days, in batches (a full one stages the next). Idempotent.

    Budget: 3 statements that return something (first day; home currency and rates; days).
    """
    home = daily.find_home_currency(organization_id)
    if home.first_at is None:
        return
    rates = read_home_factors(organization_id, first=home.first_at.date())
    if daily.recompute(organization_id, factors=rates, limit=_DAYS_PER_JOB) == _DAYS_PER_JOB:
        work.enqueue(jobs.DAYS_RECKON_ONE, organization_id=organization_id)
