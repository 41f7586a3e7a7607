"""The `refunds` queue: applying a refund to the override."""

from uuid import UUID

from adapters import clock
from domain import jobs
from models.jobs.rows import ClaimedJob
from pipelines.conversions import refund
from workers.actor import database_job


@database_job(jobs.REFUND_CASCADE)
def refund_override(job: ClaimedJob) -> None:
    """Refund one override by the same fraction as its parent."""
    refund.refund_override(organization_id=job.tenant, conversion_id=UUID(job.args["conversion_id"]), now=clock.now())
