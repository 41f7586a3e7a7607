"""The context in which the facts of an event are booked, and the result of one fact."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain import jobs
from domain.gateways import payment_json
from domain.gateways.facts import PaymentFact
from domain.gateways.states import EventStatus
from models import ids
from models.gateways import connections, inbox, payments
from models.gateways.connections import GatewayConnection
from models.gateways.inbox import GatewayEvent
from models.platforms import lookups
from models.platforms.lookups import PendingLookup
from pipelines import work

#: Why an event waits for a payment or a refund.
UNKNOWN, NO_REFUND = "payment_unknown", "refund_unknown"

_A_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class FactResult:
    """The result of booking a fact: a status, why (a code), and the conversion that it is about."""

    status: EventStatus = EventStatus.Processed
    reason: str | None = None
    conversion_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class BookingContext:
    """The connection and event whose facts are booked, and the settings that decide how.

    `parameters` are the organization's attribution parameters; `has_trials`: starts without money are leads;
    `has_lookups`: platforms are queried for payments that credit no affiliate.
    """

    connection: GatewayConnection
    event: GatewayEvent
    parameters: Sequence[str]
    has_trials: bool
    has_lookups: bool
    now: datetime

    @property
    def organization_id(self) -> UUID:
        """The organization that the event belongs to."""
        return self.connection.organization_id

    @property
    def gateway(self) -> str:
        """The gateway that sent the event."""
        return self.connection.gateway

    def was_connected(self, at: datetime) -> bool:
        """Return whether the gateway was connected at a time, by this connection or an earlier one, in the same mode.

        Gateways count time in whole seconds. Budget: 1 statement for times before this connection, else none.
        """
        return at + _A_SECOND >= self.connection.connected_at or connections.was_in_force(
            organization_id=self.organization_id,
            gateway=self.gateway,
            mode=self.connection.mode,
            at=at,
            until=at + _A_SECOND,
        )

    def lock_payment(self, ids: Sequence[str]) -> payments.GatewayPayment | None:
        """Lock and return the payment that has one of these ids; the caller holds their advisory locks."""
        return payments.lock_by_aliases(organization_id=self.organization_id, gateway=self.gateway, aliases=ids)

    def park_event(self, ids: Sequence[str], reason: str = UNKNOWN) -> FactResult:
        """Stage that the event waits for the payment or refund with one of these ids; return the result."""
        self.stage_parked(ids)
        return FactResult(EventStatus.Parked, reason)

    def stage_parked(self, ids: Sequence[str]) -> None:
        """Stage that the event is retried when a fact with one of these ids arrives, whatever its status is."""
        payments.stage_parked(
            organization_id=self.organization_id, gateway=self.gateway, event_id=self.event.id, aliases=ids
        )

    def release_parked(self, ids: Sequence[str], *, credited: payments.GatewayPayment | None = None) -> None:
        """Retry the events that wait for one of these names, and those that a `credited` payment explains."""
        event_ids = payments.release_parked(
            organization_id=self.organization_id, gateway=self.gateway, aliases=ids, credited=credited
        )
        self.retry_events(event_ids)

    def retry_events(self, event_ids: Sequence[UUID]) -> None:
        """Stage retries of these events, whatever their status."""
        if event_ids:
            inbox.stage_retry(organization_id=self.organization_id, event_ids=event_ids)
        for event_id in event_ids:
            work.enqueue(jobs.GATEWAY_EVENT, organization_id=self.organization_id, event_id=event_id)

    def wait_for_earlier_retries(self, payment: payments.GatewayPayment) -> None:
        """Raise TryAgain while earlier payments of a buyer are about to be booked again.

        Their number decides the type and the commission, so those of one buyer are booked in the order of payment.
        Budget: 1 statement.
        """
        if inbox.has_earlier_retry(payment):
            raise work.TryAgain(at=self.now, why="an earlier payment of the buyer is booked first")

    def retry_uncredited_payments(self, payer: payments.Payer, since: datetime | None) -> None:
        """Retry a buyer's payments since a time that credited no affiliate. Budget: 1 statement."""
        self.retry_events(
            payments.list_unreferred(organization_id=self.organization_id, gateway=self.gateway, who=payer, since=since)
        )

    def enqueue_lookup(self, fact: PaymentFact, row: payments.GatewayPayment) -> None:
        """Stage a look-up at platforms of who referred the buyer of a booked payment that credits no affiliate."""
        if not self.has_lookups or fact.origin.email is None:
            return
        pending = PendingLookup(ids.new_id(), self.organization_id, row.id, payment_json.serialize(fact), self.now)
        lookups.stage(pending)
        work.enqueue(jobs.PLATFORM_LOOKUP, organization_id=self.organization_id, lookup_id=pending.id)
