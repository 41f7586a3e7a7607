"""The `upkeep` queue: housekeeping that belongs to no organization."""

from models.job_rows import Claimed
from pipelines import jobs, upkeep
from workers.actor import database_job


@database_job(jobs.FORGET)
def forget(job: Claimed) -> None:
    """Drop what has had its time."""
    upkeep.forget()
