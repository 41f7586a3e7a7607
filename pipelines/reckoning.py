"""Reckons what days of programs owe, so that who asks what is owed adds up the conversions of few days.

What comes too late, or not at all, makes that slower and never wrong.
"""

from datetime import date
from uuid import UUID

from domain import jobs
from models.programs import numbers
from models.programs.owed import reckoned
from pipelines import work
from pipelines.programs.home_rate import read_factors

#: Before the first organization.
FIRST = UUID(int=0)
_ORGANIZATIONS_AT_ONCE = 500
# A day may have had a million conversions.
_DAYS_AT_ONCE = 200


def any_org_start(*, since: date | None = None, after: UUID = FIRST) -> None:
    """Stage the reckoning of the next organizations that have days to reckon, and the job for those who follow.

    With `since` of those that owe anything since that day, whose rates are others now.
    """
    found = reckoned.any_org_next(since=since, after=after, limit=_ORGANIZATIONS_AT_ONCE)
    for organization_id in found:
        work.enqueue(jobs.DAYS_RECKON_ONE, organization_id=organization_id)
    if len(found) == _ORGANIZATIONS_AT_ONCE:
        work.enqueue(jobs.DAYS_RECKON, organization_id=None, since=since or "", after=found[-1])


def reckon(organization_id: UUID) -> None:
    """Reckon the organization's days that are to be, in portions (a full one asks for the next). Idempotent.

    Budget: 4 statements that return something (home currency; currencies; rates; days).
    """
    home = reckoned.home(organization_id)
    if home.first_at is None:
        return
    known = read_factors(home=home.currency, currencies=numbers.currencies(organization_id), first=home.first_at.date())
    if reckoned.reckon(organization_id, factors=known, limit=_DAYS_AT_ONCE) == _DAYS_AT_ONCE:
        work.enqueue(jobs.DAYS_RECKON_ONE, organization_id=organization_id)
