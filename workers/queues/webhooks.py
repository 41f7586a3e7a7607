"""The `webhooks` queue: one attempt of one delivery at a time."""

from datetime import datetime
from uuid import UUID

import structlog

from adapters import clock
from domain import jobs
from domain.webhooks import delivery
from models.jobs.rows import Claimed
from pipelines.webhooks import deliver
from workers import metrics
from workers.actor import calling_job

_log = structlog.get_logger(__name__)


def _prepare(job: Claimed) -> deliver.PreparedDelivery | None:
    return deliver.prepare(
        organization_id=job.tenant, delivery_id=UUID(job.args["delivery_id"]), is_single="once" in job.args
    )


def _send(prepared: deliver.PreparedDelivery) -> deliver.DeliveryOutcome:
    outcome = deliver.send(prepared, now=clock.now())
    attempt = prepared.attempt
    if attempt.is_endpoint_gone:
        return outcome  # nobody was asked
    name = delivery.outcome(outcome.status)
    metrics.count_webhook(name)
    if name != "delivered":
        _log.info(
            "webhook.failed",
            organization_id=str(attempt.organization_id),
            endpoint_id=str(attempt.endpoint_id),
            delivery_id=str(attempt.delivery_id),
            event_type=attempt.event_type,
            attempt=attempt.number,
            outcome=name,
            status=outcome.status,
            reason=outcome.failure_reason,
        )
    return outcome


def _record(prepared: deliver.PreparedDelivery, outcome: deliver.DeliveryOutcome) -> datetime | None:
    return deliver.record(prepared, outcome, now=clock.now())


calling_job(jobs.WEBHOOK_DELIVER, prepare=_prepare, call=_send, record=_record)
