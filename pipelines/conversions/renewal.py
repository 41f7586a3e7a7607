"""The hold of Pending conversions, when the organization changes how many days it lasts.

The first ones are held anew with the change itself. However many there are, no transaction is long: a job takes the
next and asks for those who follow.
Source: core spec, "Organization profile" (payoutGraceDays).
"""

from uuid import UUID

from domain import jobs
from models.conversions import conversions
from pipelines import work

_BATCH = 5_000
FIRST = UUID(int=0)


def renew_holds(organization_id: UUID, *, after: UUID = FIRST) -> None:
    """Hold the next Pending conversions for the present grace days, and stage the job for the rest. Idempotent."""
    last = conversions.renew_holds(organization_id=organization_id, after=after, limit=_BATCH)
    if last is not None:
        work.enqueue(jobs.HOLDS_RENEW, organization_id=organization_id, after=last)
