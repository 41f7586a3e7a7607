"""Recomputes the hold of Pending conversions when the organization changes how many days it lasts.

The first batch is updated with the change itself, each further one by a job, so that every transaction is short.
Source: core spec, "Organization profile" (payoutGraceDays).
"""

from uuid import UUID

from domain import jobs
from models.conversions import conversions
from pipelines import work

_BATCH = 5_000
FIRST = UUID(int=0)


def renew_holds(organization_id: UUID, *, after: UUID = FIRST) -> None:
    """Set the hold of the next Pending conversions to the current grace days, and stage the job for the rest.

    Idempotent.
    """
    last = conversions.renew_holds(organization_id=organization_id, after=after, limit=_BATCH)
    if last is not None:
        work.enqueue(jobs.HOLDS_RENEW, organization_id=organization_id, after=last)
