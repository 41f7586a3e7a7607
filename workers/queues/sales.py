"""The `sales` queue: settling accepted sales and writing overrides."""

from decimal import Decimal
from uuid import UUID

from adapters import clock
from domain import jobs
from models.jobs.rows import Claimed
from pipelines.conversions import override, settle
from workers.actor import database_job


@database_job(jobs.SALE_SETTLE)
def settle_sale(job: Claimed) -> None:
    """Settle one accepted sale."""
    settle.sale(organization_id=job.tenant, sale_id=UUID(job.args["sale_id"]), now=clock.now())


@database_job(jobs.OVERRIDE_WRITE)
def write_override(job: Claimed) -> None:
    """Write the override of one settled sale."""
    override.write(
        organization_id=job.tenant,
        conversion_id=UUID(job.args["conversion_id"]),
        recruiter_id=UUID(job.args["recruiter_id"]),
        percent=Decimal(job.args["percent"]),
        now=clock.now(),
    )
