"""Delivers events: prepares attempts in a transaction, sends them outside of any, records them in another.

Several attempts of one organization are prepared together and recorded together; each is sent alone.
Source: tracking spec, section 6 "Events" (headers, retry semantics).
"""

import atexit
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import settings
from adapters.safe_http import addresses, client
from adapters.secret_key import sealing
from domain import statuses
from domain.webhooks import delivery, signing
from models.webhooks import hooks, outages, sending

#: The status by which the target of a hook reports that its workflow was switched off.
GONE = 410


@dataclass(frozen=True, slots=True)
class RequestedAttempt:
    """A delivery to attempt; `is_single`: a user requested this one attempt."""

    delivery_id: UUID
    event_id: UUID
    is_single: bool = False


@dataclass(frozen=True, slots=True)
class PreparedDelivery:
    """A counted attempt that is about to be sent, as it was read; `is_single` as in `RequestedAttempt`."""

    attempt: sending.Attempt
    is_single: bool
    read_at: datetime


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """The response to an attempt: a status with the start of the body, or the reason why it is missing."""

    began_at: datetime
    ended_at: datetime
    status: int | None
    retry_after: str | None = None
    excerpt: str | None = None
    failure_reason: str | None = None


def prepare(
    *, organization_id: UUID, requests: Sequence[RequestedAttempt], now: datetime
) -> list[PreparedDelivery | None]:
    """Count the attempts and read what to send; None for a delivery that is settled already. One statement for all.

    The count is committed before anything is sent, so a worker that dies in the call has used an attempt: the receiver
    may have got the event, and gets it again under the same delivery id.
    """
    events = {each.delivery_id: each.event_id for each in requests}
    attempts = sending.begin(organization_id=organization_id, events=events)
    return [
        PreparedDelivery(attempts[each.delivery_id], each.is_single, read_at=now)
        if each.delivery_id in attempts
        else None
        for each in requests
    ]


def is_unchanged(prepared: PreparedDelivery) -> bool:
    """Return whether the endpoint still has the URL and the secret that were read. Budget: 1 round trip."""
    return sending.is_current(prepared.attempt)


def stage_unsent(prepared: Sequence[PreparedDelivery]) -> None:
    """Stage that these attempts were not sent, so that none is used up."""
    attempts = [each.attempt for each in prepared]
    sending.stage_not_made(attempts, organization_id=attempts[0].organization_id)


def send(prepared: PreparedDelivery, *, clock: Callable[[], datetime]) -> DeliveryOutcome:
    """Sign with the endpoint's secret and POST; never raises for anything the receiver does."""
    attempt, began_at = prepared.attempt, clock()
    if attempt.is_endpoint_gone:
        return DeliveryOutcome(began_at, began_at, status=None, failure_reason="The endpoint was deleted.")
    body = attempt.body.encode()
    try:
        answer = _client().post(attempt.url, body=body, headers=_sign_headers(attempt, body, began_at))
    except (addresses.UrlRefused, client.ReceiverUnreachable) as failure:
        reason = failure.message if isinstance(failure, addresses.UrlRefused) else failure.reason
        return DeliveryOutcome(began_at, max(clock(), began_at), status=None, failure_reason=reason)
    return DeliveryOutcome(
        began_at,
        max(clock(), began_at),
        status=answer.status,
        retry_after=answer.headers.get("retry-after"),
        excerpt=answer.excerpt,
    )


def record(ended: Sequence[tuple[PreparedDelivery, DeliveryOutcome]]) -> list[datetime | None]:
    """Stage the results of attempts of one organization, in the order in which they were made.

    Return when the next attempt of each is due; None where the delivery is settled. A hook whose target answers 410 is
    deleted; its other deliveries end unsent at their next attempt. One statement for all, plus those that change the
    endpoint.
    """
    for prepared, outcome in ended:
        if _is_gone(prepared.attempt, outcome):
            _stage_end(prepared.attempt, outcome.ended_at)
    _stage_outages(ended)
    verdicts = [_decide(prepared, outcome) for prepared, outcome in ended]
    sending.stage_results(
        [
            _build_result(prepared.attempt, outcome, verdict)
            for (prepared, outcome), verdict in zip(ended, verdicts, strict=True)
        ],
        organization_id=ended[0][0].attempt.organization_id,
    )
    return [verdict.next_attempt_at for verdict in verdicts]


def _build_result(
    attempt: sending.Attempt, outcome: DeliveryOutcome, verdict: delivery.DeliveryVerdict
) -> sending.AttemptResult:
    is_settled = verdict.status != statuses.DeliveryStatus.Pending
    return sending.AttemptResult(
        delivery_id=attempt.delivery_id,
        event_id=attempt.event_id,
        number=attempt.number,
        began_at=outcome.began_at,
        ended_at=outcome.ended_at,
        response_status=outcome.status,
        response_excerpt=outcome.excerpt,
        failure_reason=outcome.failure_reason,
        status=verdict.status.value,
        next_attempt_at=verdict.next_attempt_at,
        settled_at=outcome.ended_at if is_settled else None,
    )


def _is_gone(attempt: sending.Attempt, outcome: DeliveryOutcome) -> bool:
    """Return whether the target of a hook answered that it is gone permanently."""
    return attempt.managed_by is not None and outcome.status == GONE


def _stage_end(attempt: sending.Attempt, now: datetime) -> None:
    hooks.stage_gone(
        organization_id=attempt.organization_id,
        hook_id=attempt.endpoint_id,
        before={"url": attempt.url, "events": [attempt.event_type], "managedBy": attempt.managed_by},
        delivery_id=attempt.delivery_id,
        at=now,
    )


def _stage_outages(ended: Sequence[tuple[PreparedDelivery, DeliveryOutcome]]) -> None:
    """Stage the start or the end of each endpoint's outage; a statement only where that changes."""
    since: dict[UUID, datetime | None] = {}
    for prepared, outcome in ended:
        attempt = prepared.attempt
        if attempt.is_endpoint_gone or _is_gone(attempt, outcome):
            continue
        failing_since = since.setdefault(attempt.endpoint_id, attempt.failing_since)
        where = {"organization_id": attempt.organization_id, "endpoint_id": attempt.endpoint_id}
        has_failed = delivery.outcome(outcome.status) != "delivered"
        if has_failed and failing_since is None:
            outages.stage_start(**where, at=outcome.ended_at)
            since[attempt.endpoint_id] = outcome.ended_at
        elif failing_since is not None and not has_failed:
            outages.stage_end(**where)
            since[attempt.endpoint_id] = None


def _decide(prepared: PreparedDelivery, outcome: DeliveryOutcome) -> delivery.DeliveryVerdict:
    schedule = settings.current().webhooks.attempts_at_s
    is_last = prepared.is_single or prepared.attempt.is_endpoint_gone or _is_gone(prepared.attempt, outcome)
    return delivery.after_attempt(
        attempt=len(schedule) if is_last else prepared.attempt.number,
        status=outcome.status,
        retry_after=outcome.retry_after,
        event_at=prepared.attempt.event_at,
        now=outcome.ended_at,
        schedule=schedule,
    )


def build_headers(*, event_type: str, delivery_id: UUID) -> dict[str, str]:
    """Return the headers that are the same for every attempt of a delivery; time and signature differ."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "Finderfee-Webhooks/1",
        "X-Service-Event": event_type,
        "X-Service-Delivery-Id": str(delivery_id),
    }


def _sign_headers(attempt: sending.Attempt, body: bytes, now: datetime) -> Mapping[str, str]:
    secret = sealing.unseal(attempt.secret_sealed, belongs_to=str(attempt.endpoint_id))
    timestamp_s = int(now.timestamp())
    return build_headers(event_type=attempt.event_type, delivery_id=attempt.delivery_id) | {
        "X-Service-Signature": signing.outbound_header(secret=secret.encode(), timestamp_s=timestamp_s, body=body),
        "X-Service-Timestamp": str(timestamp_s),
    }


def url_policy() -> client.Policy:
    """Return which URLs are allowed, by the settings."""
    webhooks = settings.current().webhooks
    return client.Policy(
        allow_private=webhooks.allow_private,
        also_allow=frozenset(webhooks.also_allow),
        ca_bundle=webhooks.ca_bundle,
        timeout_s=webhooks.timeout_s,
    )


@functools.cache
def _client() -> client.Client:
    http_client = client.Client(url_policy())
    atexit.register(http_client.close)  # closes its open connections in order when the process ends
    return http_client
