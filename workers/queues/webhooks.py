"""The `webhooks` queue: attempts of deliveries, several of one endpoint one after another where it is behind."""

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
from workers.actor import calling_job
from workers.behind.calls import CallsTogether, is_so

_log = structlog.get_logger(__name__)

# What a batch knows of its endpoint is no older when an attempt begins: a secret that was changed signs no more, and an
# endpoint that was deleted is told nothing.
_KNOWN_FOR = timedelta(milliseconds=250)


def _prepare(claimed: Sequence[ClaimedJob]) -> list[deliver.PreparedDelivery | None]:
    wanted = [_wanted(job.args) for job in claimed]
    return deliver.prepare(organization_id=claimed[0].tenant, wanted=wanted, now=clock.now())


def _wanted(args: Mapping[str, str]) -> deliver.WantedAttempt:
    event_id = UUID(args["event_id"]) if "event_id" in args else None
    return deliver.WantedAttempt(UUID(args["delivery_id"]), event_id, is_single="once" in args)


def _send(prepared: deliver.PreparedDelivery) -> deliver.DeliveryOutcome:
    outcome = deliver.send(prepared, clock=clock.now)
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


def _goes_on(
    prepared: deliver.PreparedDelivery, outcome: deliver.DeliveryOutcome, following: deliver.PreparedDelivery
) -> bool:
    """Say whether the endpoint may be told the next: it answered, is there, and is as it was when that was prepared."""
    if outcome.status in (None, deliver.GONE):
        return False
    if abs(outcome.ended_at - prepared.read_at) < _KNOWN_FOR:
        return True
    return is_so(prepared.attempt.organization_id, lambda: deliver.is_as_it_was(prepared))


calling_job(
    jobs.WEBHOOK_DELIVER,
    prepare=lambda job: _prepare([job])[0],
    call=_send,
    record=lambda prepared, outcome: deliver.record([(prepared, outcome)])[0],
    why=lambda prepared, outcome: outcome.failure_reason or f"answered {outcome.status}",
    together=CallsTogether(
        prepare=_prepare,
        goes_on=_goes_on,
        record=deliver.record,
        give_back=deliver.give_back,
    ),
)
