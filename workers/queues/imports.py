"""The `imports` queue: what an import leaves to be done after its answer."""

from uuid import UUID

from adapters import clock
from domain import jobs
from models.jobs.rows import Claimed
from pipelines.imports import letter
from workers.actor import database_job


@database_job(jobs.IMPORT_NOTIFY)
def notify(job: Claimed) -> None:
    """Write to the next of the affiliates whom an import brought."""
    letter.write(
        organization_id=job.tenant,
        program_id=UUID(job.args["program_id"]),
        import_job_id=UUID(job.args["import_job_id"]),
        said=job.args["said"],
        after=UUID(job.args["after"]),
        now=clock.now(),
    )
