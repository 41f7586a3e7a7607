"""The `sales` queue: settling accepted sales and writing overrides."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from adapters import clock
from domain import jobs
from models.jobs.rows import ClaimedJob
from pipelines.conversions import override, settlement
from pipelines.conversions.override import OwedShare
from workers.actor import database_job


def _settle(claimed: Sequence[ClaimedJob]) -> None:
    sale_ids = [UUID(job.args["sale_id"]) for job in claimed]
    settlement.settle_sales(organization_id=claimed[0].tenant, sale_ids=sale_ids, now=clock.now())


def _write_overrides(claimed: Sequence[ClaimedJob]) -> None:
    override.write(organization_id=claimed[0].tenant, owed=[_owed_share(job) for job in claimed], now=clock.now())


def _owed_share(job: ClaimedJob) -> OwedShare:
    return OwedShare(
        conversion_id=UUID(job.args["conversion_id"]),
        recruiter_id=UUID(job.args["recruiter_id"]),
        percent=Decimal(job.args["percent"]),
    )


@database_job(jobs.SALE_SETTLE, together=_settle)
def settle_sale(job: ClaimedJob) -> None:
    """Settle one accepted sale."""
    _settle([job])


@database_job(jobs.OVERRIDE_WRITE, together=_write_overrides)
def write_override(job: ClaimedJob) -> None:
    """Write the override of one settled sale."""
    _write_overrides([job])
