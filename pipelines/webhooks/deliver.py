"""Attempts to deliver events: prepared in a transaction, sent outside of any, recorded in another.

Several of one organization are prepared together and recorded together; each is sent by itself.
Source: tracking spec, section 6 "Events" (headers, retry semantics).
"""

import atexit
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import settings
from adapters import sealing
from adapters.safe_http import addresses, client
from domain import statuses
from domain.webhooks import delivery, signing
from models.webhooks import hooks, outages, sending

#: By which the target of a hook says that its workflow was switched off.
GONE = 410


@dataclass(frozen=True, slots=True)
class WantedAttempt:
    """A delivery that is to be tried; `is_single` means that somebody asked for it by hand."""

    delivery_id: UUID
    event_id: UUID
    is_single: bool = False


@dataclass(frozen=True, slots=True)
class PreparedDelivery:
    """An attempt that is counted and about to be sent, as it was read; `is_single` as its `WantedAttempt` has it."""

    attempt: sending.Attempt
    is_single: bool
    read_at: datetime


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """What came back until `ended_at` of what was sent at `began_at`: a status with the start of the body, or why there
    is none."""

    began_at: datetime
    ended_at: datetime
    status: int | None
    retry_after: str | None = None
    excerpt: str | None = None
    failure_reason: str | None = None


def prepare(*, organization_id: UUID, wanted: Sequence[WantedAttempt], now: datetime) -> list[PreparedDelivery | None]:
    """Count the attempts and read what to send; None for a delivery that is settled already. One statement for all.

    The count is committed before anything is sent, so a worker that dies in the call has used an attempt: the
    receiver may have been told, and is told again under the same delivery id.
    """
    begun = sending.begin(organization_id=organization_id, events={each.delivery_id: each.event_id for each in wanted})
    return [
        PreparedDelivery(begun[each.delivery_id], each.is_single, read_at=now) if each.delivery_id in begun else None
        for each in wanted
    ]


def is_as_it_was(prepared: PreparedDelivery) -> bool:
    """Say whether the endpoint is there with the URL and the secret that were read. Budget: 1 round trip."""
    return sending.is_current(prepared.attempt)


def give_back(prepared: Sequence[PreparedDelivery]) -> None:
    """Stage that nothing of these was sent, so that no attempt is used."""
    attempts = [each.attempt for each in prepared]
    sending.stage_not_made(attempts, organization_id=attempts[0].organization_id)


def send(prepared: PreparedDelivery, *, clock: Callable[[], datetime]) -> DeliveryOutcome:
    """Sign with the endpoint's secret and POST; never raises for anything the receiver does."""
    attempt, began_at = prepared.attempt, clock()
    if attempt.is_endpoint_gone:
        return DeliveryOutcome(began_at, began_at, status=None, failure_reason="The endpoint was deleted.")
    body = attempt.body.encode()
    try:
        answer = _client().post(attempt.url, body=body, headers=_signed(attempt, body, began_at))
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
    """Stage what attempts of one organization led to, in the order in which they were made.

    Returns when the next one of each is due; None where the delivery is settled. A hook whose target answers 410 is
    deleted here; what is still on its way to it ends unsent, at its next attempt. One statement for all, besides those
    that say what becomes of the endpoint.
    """
    for prepared, outcome in ended:
        if _is_over(prepared.attempt, outcome):
            _stage_end(prepared.attempt, outcome.ended_at)
    _keep_outages(ended)
    verdicts = [_verdict(prepared, outcome) for prepared, outcome in ended]
    sending.stage_results(
        [
            _result(prepared.attempt, outcome, verdict)
            for (prepared, outcome), verdict in zip(ended, verdicts, strict=True)
        ],
        organization_id=ended[0][0].attempt.organization_id,
    )
    return [verdict.next_attempt_at for verdict in verdicts]


def _result(
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


def _is_over(attempt: sending.Attempt, outcome: DeliveryOutcome) -> bool:
    """Say whether the target of a hook said that nobody is there any more, and never will be."""
    return attempt.managed_by is not None and outcome.status == GONE


def _stage_end(attempt: sending.Attempt, now: datetime) -> None:
    hooks.stage_gone(
        organization_id=attempt.organization_id,
        hook_id=attempt.endpoint_id,
        before={"url": attempt.url, "events": [attempt.event_type], "managedBy": attempt.managed_by},
        delivery_id=attempt.delivery_id,
        at=now,
    )


def _keep_outages(ended: Sequence[tuple[PreparedDelivery, DeliveryOutcome]]) -> None:
    """Stage since when each endpoint has failed, or that it does no longer; a statement only where that changes."""
    since: dict[UUID, datetime | None] = {}
    for prepared, outcome in ended:
        attempt = prepared.attempt
        if attempt.is_endpoint_gone or _is_over(attempt, outcome):
            continue
        known = since.setdefault(attempt.endpoint_id, attempt.failing_since)
        where = {"organization_id": attempt.organization_id, "endpoint_id": attempt.endpoint_id}
        has_failed = delivery.outcome(outcome.status) != "delivered"
        if has_failed and known is None:
            outages.stage_start(**where, at=outcome.ended_at)
            since[attempt.endpoint_id] = outcome.ended_at
        elif known is not None and not has_failed:
            outages.stage_end(**where)
            since[attempt.endpoint_id] = None


def _verdict(prepared: PreparedDelivery, outcome: DeliveryOutcome) -> delivery.DeliveryVerdict:
    schedule = settings.current().webhooks.attempts_at_s
    is_last = prepared.is_single or prepared.attempt.is_endpoint_gone or _is_over(prepared.attempt, outcome)
    return delivery.after_attempt(
        attempt=len(schedule) if is_last else prepared.attempt.number,
        status=outcome.status,
        retry_after=outcome.retry_after,
        event_at=prepared.attempt.event_at,
        now=outcome.ended_at,
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


def _signed(attempt: sending.Attempt, body: bytes, now: datetime) -> Mapping[str, str]:
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
