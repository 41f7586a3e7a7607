"""The `upkeep` queue: housekeeping that belongs to no organization."""

from models.job_rows import Claimed
from pipelines import clock, invites, jobs, upkeep
from workers.actor import database_job


@database_job(jobs.FORGET)
def forget(job: Claimed) -> None:
    """Drop what has had its time."""
    upkeep.forget()


@database_job(jobs.INVITES_EXPIRE)
def expire_invites(job: Claimed) -> None:
    """Mark the invites of every organization that were not accepted in time."""
    invites.any_org_expire(now=clock.now())
