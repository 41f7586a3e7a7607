"""One event of the inbox: translated by its adapter, then booked.

What an event says itself is booked in the transaction that reads it. Where the gateway has to be asked, each is a step
of its own: reading needs no lock, translating is in no transaction, booking decides under the locks.
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
from pipelines.gateways.booking import book
from pipelines.gateways.booking.desk import NO_REFUND, UNKNOWN, BookingDesk

#: How long an event waits for the payment that it names.
PARKED_FOR = timedelta(days=7)
# While a gateway is away, and while it refuses the credentials.
_AGAIN_AFTER = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2))
# While other calls hold a gateway's share of the threads.
_CROWDED_FOR = timedelta(seconds=10)
_WAITED_FOR = {UNKNOWN: "the payment that it names did not come", NO_REFUND: "the refund that it names did not come"}
_CLEARED = "nobody could say how much it is"
_DONE = (EventStatus.Processed, EventStatus.Ignored)


@dataclass(frozen=True, slots=True)
class PreparedEvent:
    """An event with all that translating it takes."""

    gateway: GatewayAdapter
    connection: GatewayConnection
    account: GatewayAccount
    event: GatewayEvent
    parameters: Sequence[str]
    has_lookups: bool

    @property
    def server(self) -> str:
        """The server that is called for it: the gateway's, or the account's own."""
        return str(self.connection.id) if self.gateway.capabilities.own_servers else self.gateway.name


@dataclass(frozen=True, slots=True)
class Translated:
    """What an event means; or why it cannot be read (`error`), or not now: the gateway is away, or refuses us.

    `is_crowded`: it was not called, because as many other calls to it are on their way as may be.
    """

    facts: Sequence[Fact] = ()
    reason: str | None = None
    error: str | None = None
    is_to_wait: bool = False
    is_refused: bool = False
    is_crowded: bool = False


def read(*, organization_id: UUID, event_id: UUID, now: datetime) -> PreparedEvent | None:
    """Return an event that is to be worked on; None for one that is done, or whose raw bytes were dropped.

    Budget: 1 round trip.
    """
    opened = inbox.find_with_connection(organization_id=organization_id, event_id=event_id)
    if opened is None or opened.event.status in _DONE or opened.event.raw is None:
        return None
    return PreparedEvent(
        gateway=registry.get(opened.connection.gateway),
        connection=opened.connection,
        account=accounts.of(opened.connection, now=now),
        event=opened.event,
        parameters=Params(opened.attribution_params).effective_order,
        has_lookups=opened.has_lookups,
    )


def prepare(*, organization_id: UUID, event_id: UUID, now: datetime) -> PreparedEvent | None:
    """Book an event that says all itself, at once; return one that its gateway has to be asked about.

    None for one that is done by now, as `read`. Budget: 1 round trip (read) and those of what it means; what is written
    travels with the commit.
    """
    prepared = read(organization_id=organization_id, event_id=event_id, now=now)
    if prepared is None:
        return None
    try:
        with wire.unasked():
            translated = translate(prepared)
    except wire.WouldAsk:
        return prepared
    again_at = record(prepared, translated, now=now)
    if again_at is not None:
        work.enqueue(jobs.GATEWAY_EVENT, organization_id=organization_id, run_at=again_at, event_id=event_id)
    return None


def translate(prepared: PreparedEvent) -> Translated:
    """Return what an event means. Calls the gateway where the event leaves something out."""
    try:
        told = [_closer(prepared, fact) for fact in _facts(prepared)]
        return Translated(_within(prepared, told))
    except UnsupportedCurrency as error:
        return Translated(reason="unsupported_currency", error=f"the currency {error} is not supported")
    except (UnreadableEvent, GatewayRejected) as error:
        return Translated(reason="unreadable", error=str(error))
    except (GatewayUnreachable, CredentialsRefused) as error:
        return Translated(error=str(error), is_to_wait=True, is_refused=isinstance(error, CredentialsRefused))


def crowded() -> Translated:
    """Return that an event is put off for a moment, because its gateway is slow and holds its share of the threads."""
    return Translated(error="it is slow, and other calls to it hold its share of the threads", is_crowded=True)


def _within(prepared: PreparedEvent, facts: Iterable[Fact]) -> list[Fact]:
    prefix, received_at = prepared.connection.id_prefix, prepared.event.received_at
    return [dates.limit_date(scopes.add_prefix(fact, prefix), received_at) for fact in facts]


def _facts(prepared: PreparedEvent) -> Sequence[Fact]:
    event = prepared.event
    assert event.raw is not None  # `prepare` saw to it
    delivery = GatewayDelivery(event.event_key, event.type, event.raw, event.gateway_event_id)
    return prepared.gateway.facts(prepared.account, delivery)


def _closer(prepared: PreparedEvent, fact: Fact) -> Fact:
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


def record(prepared: PreparedEvent, translated: Translated, *, now: datetime) -> datetime | None:
    """Book what an event means; return when to try again, None when it is done or is a dead letter.

    It waits for the advisory locks of its facts alone: two jobs of one event book one after the other, and the second
    finds everything booked.
    """
    book.stage_locks(prepared.connection, translated.facts)
    if translated.error is not None:
        return _put_off(prepared, translated, now)
    event = prepared.event
    booked = book.event(_desk(prepared, now), translated.facts)
    if booked.status == EventStatus.Parked and now - event.received_at >= PARKED_FOR:
        _give_up(prepared, booked.reason, f"{_WAITED_FOR.get(booked.reason or '', _CLEARED)} within 7 days", now)
        return None
    inbox.stage_result(
        event,
        status=booked.status.value,
        reason=booked.reason,
        facts=[_told(fact) for fact in translated.facts],
        conversion_ids=booked.conversion_ids,
        now=now,
    )
    return event.received_at + PARKED_FOR if booked.status == EventStatus.Parked else None


def _desk(prepared: PreparedEvent, now: datetime) -> BookingDesk:
    return BookingDesk(
        connection=prepared.connection,
        event=prepared.event,
        parameters=prepared.parameters,
        has_trials=prepared.gateway.capabilities.trials,
        has_lookups=prepared.has_lookups,
        now=now,
    )


def _put_off(prepared: PreparedEvent, translated: Translated, now: datetime) -> datetime | None:
    """Keep why an event could not be read; return when to try again, None when it is done by now or is a dead letter.

    Budget: 1 round trip (lock).
    """
    event, error = prepared.event, translated.error or ""
    status = inbox.lock_status(event)
    if status in _DONE:
        return None
    if translated.is_crowded:
        return now + _CROWDED_FOR
    if not translated.is_to_wait:
        _give_up(prepared, translated.reason, error, now)
        return None
    if prepared.connection.status == ConnectionStatus.Disconnected:
        words = "it needs to be looked up at the gateway, which is no longer connected"
        _give_up(prepared, "disconnected", words, now)
        return None
    if translated.is_refused:
        connections.stage_refusal(
            organization_id=event.organization_id, connection_id=event.connection_id, why=error, at=now
        )
    inbox.stage_result(event, status=status, error=error, now=None)
    return now + _patience(now - event.received_at)


def _give_up(prepared: PreparedEvent, reason: str | None, error: str, now: datetime) -> None:
    """Let the event be Failed and a dead letter, its raw bytes kept: playing it again after a mend works."""
    event = prepared.event
    inbox.stage_result(event, status=EventStatus.Failed.value, reason=reason, error=error, now=now)
    rows.stage_dead_letter(
        jobs.GATEWAY_EVENT,
        organization_id=event.organization_id,
        args={"event_id": str(event.id)},
        fair_key=str(event.organization_id),
        error=f"{prepared.connection.gateway} {event.type}: {error}",
    )


def _told(fact: Fact) -> dict[str, Any]:
    return {"fact": type(fact).__name__, **{name: getattr(fact, name) for name in fact.__dataclass_fields__}}


def _patience(waited: timedelta) -> timedelta:
    return next((step for step in _AGAIN_AFTER if waited < 4 * step), _AGAIN_AFTER[-1])
