"""One attempt to deliver an event: prepared in a transaction, sent outside of any, recorded in another.

Source: tracking spec, section 6 "Events" (headers, retry semantics).
"""

import atexit
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import settings
from adapters import sealing
from adapters.safe_http import addresses, client
from domain import statuses
from domain.webhooks import delivery, signing
from models.webhooks import outages, outbox


@dataclass(frozen=True, slots=True)
class PreparedDelivery:
    """An attempt that is counted and about to be sent; `is_single` means that somebody asked for it by hand."""

    attempt: outbox.Attempt
    is_single: bool


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """What came back of what was sent at `began_at`: a status with the start of the body, or why there is none."""

    began_at: datetime
    status: int | None
    retry_after: str | None = None
    excerpt: str | None = None
    failure_reason: str | None = None


def prepare(*, organization_id: UUID, delivery_id: UUID, is_single: bool) -> PreparedDelivery | None:
    """Count the attempt and read what to send; None when the delivery is settled already.

    The count is committed before anything is sent, so a worker that dies in the call has used an attempt: the
    receiver may have been told, and is told again under the same delivery id.
    """
    attempt = outbox.begin_attempt(organization_id=organization_id, delivery_id=delivery_id)
    return PreparedDelivery(attempt=attempt, is_single=is_single) if attempt else None


def send(prepared: PreparedDelivery, *, now: datetime) -> DeliveryOutcome:
    """Sign with the endpoint's current secret and POST; never raises for anything the receiver does."""
    attempt = prepared.attempt
    if attempt.is_endpoint_gone:
        return DeliveryOutcome(now, status=None, failure_reason="The endpoint was deleted.")
    body = attempt.body.encode()
    try:
        answer = _client().post(attempt.url, body=body, headers=_signed(attempt, body, now))
    except addresses.UrlRefused as refused:
        return DeliveryOutcome(now, status=None, failure_reason=refused.message)
    except client.ReceiverUnreachable as unreachable:
        return DeliveryOutcome(now, status=None, failure_reason=unreachable.reason)
    retry_after = answer.headers.get("retry-after")
    return DeliveryOutcome(now, status=answer.status, retry_after=retry_after, excerpt=answer.excerpt)


def record(prepared: PreparedDelivery, outcome: DeliveryOutcome, *, now: datetime) -> datetime | None:
    """Stage what the attempt led to and return when the next one is due; None when the delivery is settled."""
    attempt = prepared.attempt
    verdict = _verdict(prepared, outcome, now)
    _keep_outage(attempt, outcome, now)
    is_settled = verdict.status != statuses.DeliveryStatus.Pending
    outbox.stage_result(
        organization_id=attempt.organization_id,
        delivery_id=attempt.delivery_id,
        attempt=attempt.number,
        began_at=outcome.began_at,
        ended_at=max(now, outcome.began_at),
        status=verdict.status.value,
        response_status=outcome.status,
        excerpt=outcome.excerpt,
        failure_reason=outcome.failure_reason,
        next_attempt_at=verdict.next_attempt_at,
        settled_at=now if is_settled else None,
    )
    return verdict.next_attempt_at


def _keep_outage(attempt: outbox.Attempt, outcome: DeliveryOutcome, now: datetime) -> None:
    """Stage since when the endpoint has failed, or that it does no longer; a statement only where that changes."""
    if attempt.is_endpoint_gone:
        return
    organization_id, endpoint_id = attempt.organization_id, attempt.endpoint_id
    has_failed = delivery.outcome(outcome.status) != "delivered"
    if has_failed and attempt.failing_since is None:
        outages.stage_begun(organization_id=organization_id, endpoint_id=endpoint_id, at=now)
    elif attempt.failing_since is not None and not has_failed:
        outages.stage_over(organization_id=organization_id, endpoint_id=endpoint_id)


def _verdict(prepared: PreparedDelivery, outcome: DeliveryOutcome, now: datetime) -> delivery.DeliveryVerdict:
    schedule = settings.current().webhooks.attempts_at_s
    is_last = prepared.is_single or prepared.attempt.is_endpoint_gone
    return delivery.after_attempt(
        attempt=len(schedule) if is_last else prepared.attempt.number,
        status=outcome.status,
        retry_after=outcome.retry_after,
        event_at=prepared.attempt.event_at,
        now=now,
        schedule=schedule,
    )


def headers(*, event_type: str, delivery_id: UUID) -> dict[str, str]:
    """Return the headers that every attempt of a delivery sends alike; time and signature are each attempt's own."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "Finderfee-Webhooks/1",
        "X-Service-Event": event_type,
        "X-Service-Delivery-Id": str(delivery_id),
    }


def _signed(attempt: outbox.Attempt, body: bytes, now: datetime) -> Mapping[str, str]:
    secret = sealing.unseal(attempt.secret_sealed, belongs_to=str(attempt.endpoint_id))
    timestamp_s = int(now.timestamp())
    return headers(event_type=attempt.event_type, delivery_id=attempt.delivery_id) | {
        "X-Service-Signature": signing.outbound_header(secret=secret.encode(), timestamp_s=timestamp_s, body=body),
        "X-Service-Timestamp": str(timestamp_s),
    }


def policy() -> client.Policy:
    """Return which URLs may be told anything, as the settings say."""
    chosen = settings.current().webhooks
    return client.Policy(
        allow_private=chosen.allow_private,
        also_allow=frozenset(chosen.also_allow),
        ca_bundle=chosen.ca_bundle,
        timeout_s=chosen.timeout_s,
    )


@functools.cache
def _client() -> client.Client:
    made = client.Client(policy())
    atexit.register(made.close)  # the connections that it keeps end in order with the process
    return made
