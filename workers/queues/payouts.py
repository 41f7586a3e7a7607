"""The `payouts` queue: one payout at a time asks its rail; the cadences of automatic payouts come round."""

from datetime import datetime
from uuid import UUID

from adapters import clock
from domain import jobs
from domain.payouts.transfers import Answer
from models.jobs.rows import Claimed
from pipelines.payouts import propose, transfer
from workers.actor import calling_job, database_job


def _prepare(job: Claimed) -> transfer.PreparedTransfer | None:
    return transfer.prepare(organization_id=job.tenant, payout_id=UUID(job.args["payout_id"]), now=clock.now())


def _record(prepared: transfer.PreparedTransfer, answer: Answer | transfer.Misconfigured) -> datetime | None:
    return transfer.record(prepared, answer, now=clock.now())


calling_job(jobs.PAYOUT_TRANSFER, prepare=_prepare, call=transfer.call, record=_record)


@database_job(jobs.PAYOUT_CADENCE)
def look_for_due_cadences(job: Claimed) -> None:
    """Ask for the payouts of every organization whose cadence has come round."""
    propose.any_org_look(now=clock.now())


@database_job(jobs.PAYOUT_PROPOSE)
def propose_payouts(job: Claimed) -> None:
    """Propose an organization's automatic payouts to its Owners."""
    propose.make(organization_id=job.tenant, now=clock.now())
