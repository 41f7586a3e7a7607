"""The `webhooks` queue: one attempt of one delivery at a time."""

from datetime import datetime
from uuid import UUID

from models.job_rows import Claimed
from pipelines import clock, jobs, webhook
from workers.actor import calling_job


def _prepare(job: Claimed) -> webhook.Prepared | None:
    return webhook.prepare(
        organization_id=job.tenant, delivery_id=UUID(job.args["delivery_id"]), is_single="once" in job.args
    )


def _record(prepared: webhook.Prepared, outcome: webhook.Outcome) -> datetime | None:
    return webhook.record(prepared, outcome, now=clock.now())


calling_job(jobs.WEBHOOK_DELIVER, prepare=_prepare, call=webhook.send, record=_record)
