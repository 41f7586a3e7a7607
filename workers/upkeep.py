"""The `upkeep` queue: housekeeping that nobody waits for."""

from uuid import UUID

from models.job_rows import Claimed
from pipelines import clock, hold, holds, invites, jobs, upkeep
from workers.actor import database_job


@database_job(jobs.FORGET)
def forget(job: Claimed) -> None:
    """Drop what has had its time."""
    upkeep.forget()


@database_job(jobs.INVITES_EXPIRE)
def expire_invites(job: Claimed) -> None:
    """Mark the invites of every organization that were not accepted in time."""
    invites.any_org_expire(now=clock.now())


@database_job(jobs.HOLDS_RENEW)
def renew_holds(job: Claimed) -> None:
    """Hold an organization's next Pending conversions anew."""
    holds.renew(job.tenant, after=UUID(job.args["after"]))


@database_job(jobs.HOLD_RELEASE)
def release_holds(job: Claimed) -> None:
    """Approve what has passed its hold, of every organization."""
    hold.any_org_release(now=clock.now())
