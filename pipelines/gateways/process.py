"""Processes one event of the inbox: its adapter translates it, then its facts are booked.

A complete event is booked in the transaction that reads it. Where the gateway has to be called, there are three steps:
reading needs no lock, translating runs in no transaction, booking decides under the locks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from adapters.gateways import registry, wire
from adapters.gateways.adapter import GatewayAdapter
from adapters.gateways.base import (
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    GatewayUnreachable,
)
from domain import jobs
from domain.clicks.attribution_params import Params
from domain.gateways import dates, referrals, scopes
from domain.gateways.facts import BuyerOrigin, Fact, PaymentFact, StartFact, UnreadableEvent, UnsupportedCurrency
from domain.gateways.states import ConnectionStatus, EventStatus
from models.gateways import connections, inbox
from models.gateways.connections import GatewayConnection
from models.gateways.inbox import GatewayEvent
from models.jobs import rows
from pipelines import work
from pipelines.gateways import accounts
from pipelines.gateways.booking import events
from pipelines.gateways.booking.context import NO_REFUND, UNKNOWN, BookingContext

#: How long an event waits for the payment that it names.
PARKED_FOR = timedelta(days=7)
# While a gateway is unreachable, and while it refuses the credentials.
_RETRY_AFTER = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2))
# While other calls use up a gateway's share of the threads.
_CROWDED_FOR = timedelta(seconds=10)
_PARKED_REASONS = {
    UNKNOWN: "the payment that it names did not arrive",
    NO_REFUND: "the refund that it names did not arrive",
}
_UNCLEAR_REASON = "its amount could not be determined"
_DONE = (EventStatus.Processed, EventStatus.Ignored)


@dataclass(frozen=True, slots=True)
class PreparedEvent:
    """An event with the data that translating it needs."""

    gateway: GatewayAdapter
    connection: GatewayConnection
    account: GatewayAccount
    event: GatewayEvent
    parameters: Sequence[str]
    has_lookups: bool

    @property
    def server(self) -> str:
        """The server that translating it calls: the gateway's, or the account's own."""
        return str(self.connection.id) if self.gateway.capabilities.own_servers else self.gateway.name


@dataclass(frozen=True, slots=True)
class TranslatedEvent:
    """The facts of an event; or why it cannot be translated (`error`).

    `is_to_wait`: it is retried later, because the gateway is unreachable or refuses the credentials (`is_refused`).
    `is_crowded`: the gateway was not called, because the maximum number of other calls to it is in progress.
    """

    facts: Sequence[Fact] = ()
    reason: str | None = None
    error: str | None = None
    is_to_wait: bool = False
    is_refused: bool = False
    is_crowded: bool = False


def read(*, organization_id: UUID, event_id: UUID, now: datetime) -> PreparedEvent | None:
    """Return an event to process; None for one that is done, or whose raw bytes were dropped.

    Budget: 1 round trip.
    """
    row = inbox.find_with_connection(organization_id=organization_id, event_id=event_id)
    if row is None or row.event.status in _DONE or row.event.raw is None:
        return None
    return PreparedEvent(
        gateway=registry.get(row.connection.gateway),
        connection=row.connection,
        account=accounts.open_account(row.connection, now=now),
        event=row.event,
        parameters=Params(row.attribution_params).effective_order,
        has_lookups=row.has_lookups,
    )


def prepare(*, organization_id: UUID, event_id: UUID, now: datetime) -> PreparedEvent | None:
    """Book a complete event at once and return None; return an event that its gateway has to be called about.

    None as well for one that `read` returns None for. Budget: 1 round trip (read) and those of its facts; writes travel
    with the commit.
    """
    prepared = read(organization_id=organization_id, event_id=event_id, now=now)
    if prepared is None:
        return None
    try:
        with wire.without_calls():
            translated = translate(prepared)
    except wire.CallNotAllowed:
        return prepared
    retry_at = record(prepared, translated, now=now)
    if retry_at is not None:
        work.enqueue(jobs.GATEWAY_EVENT, organization_id=organization_id, run_at=retry_at, event_id=event_id)
    return None


def translate(prepared: PreparedEvent) -> TranslatedEvent:
    """Return the facts of an event. Calls the gateway where the event lacks data."""
    try:
        return TranslatedEvent(
            _scope_facts(prepared, [_complete_origin(prepared, fact) for fact in _parse_facts(prepared)])
        )
    except UnsupportedCurrency as error:
        return TranslatedEvent(reason="unsupported_currency", error=f"the currency {error} is not supported")
    except (UnreadableEvent, GatewayRejected) as error:
        return TranslatedEvent(reason="unreadable", error=str(error))
    except (GatewayUnreachable, CredentialsRefused) as error:
        return TranslatedEvent(error=str(error), is_to_wait=True, is_refused=isinstance(error, CredentialsRefused))


def crowded_result() -> TranslatedEvent:
    """Return the result of an event that is put off because calls to its slow gateway use up their share of threads."""
    return TranslatedEvent(error="it is slow, and other calls to it use up its share of the threads", is_crowded=True)


def _scope_facts(prepared: PreparedEvent, facts: Iterable[Fact]) -> list[Fact]:
    prefix, received_at = prepared.connection.id_prefix, prepared.event.received_at
    return [dates.limit_date(scopes.add_prefix(fact, prefix), received_at) for fact in facts]


def _parse_facts(prepared: PreparedEvent) -> Sequence[Fact]:
    event = prepared.event
    assert event.raw is not None  # `read` returns no event without them
    delivery = GatewayDelivery(event.event_key, event.type, event.raw, event.gateway_event_id)
    return prepared.gateway.facts(prepared.account, delivery)


def _complete_origin(prepared: PreparedEvent, fact: Fact) -> Fact:
    """Read the customer where the event lacks an affiliate or the buyer; then the subscription for the affiliate."""
    if not isinstance(fact, PaymentFact | StartFact):
        return fact
    if fact.origin.email and _names_an_affiliate(prepared, fact.origin):
        return fact
    origin = prepared.gateway.look_closer(prepared.account, fact.origin)
    if not _names_an_affiliate(prepared, origin):
        origin = prepared.gateway.read_subscription(prepared.account, origin)
    return replace(fact, origin=origin)


def _names_an_affiliate(prepared: PreparedEvent, origin: BuyerOrigin) -> bool:
    return any(referrals.list_claims(origin.carriers, prepared.parameters))


def record(prepared: PreparedEvent, translated: TranslatedEvent, *, now: datetime) -> datetime | None:
    """Book the facts of an event; return when to try again, None when it is done or is a dead letter.

    It waits only for the advisory locks of its facts: two jobs of one event book one after the other, and the second
    finds everything booked.
    """
    events.stage_locks(prepared.connection, translated.facts)
    if translated.error is not None:
        return _put_off(prepared, translated, now)
    event = prepared.event
    result = events.book(_build_context(prepared, now), translated.facts)
    if result.status == EventStatus.Parked and now - event.received_at >= PARKED_FOR:
        _fail(
            prepared, result.reason, f"{_PARKED_REASONS.get(result.reason or '', _UNCLEAR_REASON)} within 7 days", now
        )
        return None
    inbox.stage_result(
        event,
        status=result.status.value,
        reason=result.reason,
        facts=[_serialize_fact(fact) for fact in translated.facts],
        conversion_ids=result.conversion_ids,
        now=now,
    )
    return event.received_at + PARKED_FOR if result.status == EventStatus.Parked else None


def _build_context(prepared: PreparedEvent, now: datetime) -> BookingContext:
    return BookingContext(
        connection=prepared.connection,
        event=prepared.event,
        parameters=prepared.parameters,
        has_trials=prepared.gateway.capabilities.trials,
        has_lookups=prepared.has_lookups,
        now=now,
    )


def _put_off(prepared: PreparedEvent, translated: TranslatedEvent, now: datetime) -> datetime | None:
    """Store why an event could not be translated; return when to try again, None when it is done or a dead letter.

    Budget: 1 round trip (lock).
    """
    event, error = prepared.event, translated.error or ""
    status = inbox.lock_status(event)
    if status in _DONE:
        return None
    if translated.is_crowded:
        return now + _CROWDED_FOR
    if not translated.is_to_wait:
        _fail(prepared, translated.reason, error, now)
        return None
    if prepared.connection.status == ConnectionStatus.Disconnected:
        message = "it needs to be looked up at the gateway, which is no longer connected"
        _fail(prepared, "disconnected", message, now)
        return None
    if translated.is_refused:
        connections.stage_refusal(
            organization_id=event.organization_id, connection_id=event.connection_id, why=error, at=now
        )
    inbox.stage_result(event, status=status, error=error, now=None)
    return now + _retry_delay(now - event.received_at)


def _fail(prepared: PreparedEvent, reason: str | None, error: str, now: datetime) -> None:
    """Mark the event as Failed and stage a dead letter; its raw bytes stay, so it can be replayed after a fix."""
    event = prepared.event
    inbox.stage_result(event, status=EventStatus.Failed.value, reason=reason, error=error, now=now)
    rows.stage_dead_letter(
        jobs.GATEWAY_EVENT,
        organization_id=event.organization_id,
        args={"event_id": str(event.id)},
        fair_key=str(event.organization_id),
        error=f"{prepared.connection.gateway} {event.type}: {error}",
    )


def _serialize_fact(fact: Fact) -> dict[str, Any]:
    return {"fact": type(fact).__name__, **{name: getattr(fact, name) for name in fact.__dataclass_fields__}}


def _retry_delay(waited: timedelta) -> timedelta:
    return next((step for step in _RETRY_AFTER if waited < 4 * step), _RETRY_AFTER[-1])
