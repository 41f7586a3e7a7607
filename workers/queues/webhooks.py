"""The `webhooks` queue: attempts of deliveries, several of one endpoint one after another if it is behind."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

import structlog

from adapters import clock
from domain import jobs
from domain.webhooks import delivery
from models.jobs.rows import ClaimedJob
from pipelines.webhooks import deliver
from workers import metrics
from workers.actor import register_calling_job
from workers.batching.call_batches import CallBatch, is_still_true

_log = structlog.get_logger(__name__)

# The maximum age of a batch's data about its endpoint when an attempt begins: a former secret signs no more, and a
# deleted endpoint gets no more deliveries.
_MAX_AGE = timedelta(milliseconds=250)


def _prepare(claimed: Sequence[ClaimedJob]) -> list[deliver.PreparedDelivery | None]:
    attempts = [_attempt_from_args(job.args) for job in claimed]
    return deliver.prepare(organization_id=claimed[0].tenant, requests=attempts, now=clock.now())


def _attempt_from_args(args: Mapping[str, str]) -> deliver.RequestedAttempt:
    return deliver.RequestedAttempt(UUID(args["delivery_id"]), UUID(args["event_id"]), is_single="once" in args)


def _send(prepared: deliver.PreparedDelivery) -> deliver.DeliveryOutcome:
    outcome = deliver.send(prepared, clock=clock.now)
    attempt = prepared.attempt
    if attempt.is_endpoint_gone:
        return outcome  # no request was made
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


def _may_continue(
    prepared: deliver.PreparedDelivery, outcome: deliver.DeliveryOutcome, following: deliver.PreparedDelivery
) -> bool:
    """Return whether the next delivery may be sent: the endpoint answered, exists, and has not changed since."""
    if outcome.status in (None, deliver.GONE):
        return False
    if abs(outcome.ended_at - prepared.read_at) < _MAX_AGE:
        return True
    return is_still_true(prepared.attempt.organization_id, lambda: deliver.is_unchanged(prepared))


register_calling_job(
    jobs.WEBHOOK_DELIVER,
    prepare=lambda job: _prepare([job])[0],
    call=_send,
    record=lambda prepared, outcome: deliver.record([(prepared, outcome)])[0],
    why=lambda prepared, outcome: outcome.failure_reason or f"answered {outcome.status}",
    together=CallBatch(
        prepare=_prepare,
        may_continue=_may_continue,
        record=deliver.record,
        give_back=deliver.stage_unsent,
    ),
)
