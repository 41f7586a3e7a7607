"""Where facts are booked: whose they are, what told them, when; and what became of one."""

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

#: Why an event waits whose payment is not known.
UNKNOWN, NO_REFUND = "payment_unknown", "refund_unknown"

_A_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Booking:
    """What became of a fact: a status, why (a code), and the conversion it is about."""

    status: EventStatus = EventStatus.Processed
    reason: str | None = None
    conversion_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class BookingDesk:
    """Where the facts of one event are booked.

    `parameters` are the organization's, for claims; `has_trials` says whether starts without money are leads,
    `has_lookups` whether platforms are asked about payments that credit nobody.
    """

    connection: GatewayConnection
    event: GatewayEvent
    parameters: Sequence[str]
    has_trials: bool
    has_lookups: bool
    now: datetime

    @property
    def organization_id(self) -> UUID:
        """Whose the facts are."""
        return self.connection.organization_id

    @property
    def gateway(self) -> str:
        """Which gateway told them."""
        return self.connection.gateway

    def was_connected(self, at: datetime) -> bool:
        """Say whether the gateway was connected at a moment, by this connection or an earlier one, in the same mode.

        Gateways count time in whole seconds. Budget: 1 statement for what is older than this connection, else none.
        """
        return at + _A_SECOND >= self.connection.connected_at or connections.was_in_force(
            organization_id=self.organization_id,
            gateway=self.gateway,
            mode=self.connection.mode,
            at=at,
            until=at + _A_SECOND,
        )

    def known(self, ids: Sequence[str]) -> payments.GatewayPayment | None:
        """Return the payment that has one of these ids, locked; their advisory locks were taken."""
        return payments.lock_by_aliases(organization_id=self.organization_id, gateway=self.gateway, aliases=ids)

    def park(self, ids: Sequence[str], reason: str = UNKNOWN) -> Booking:
        """Let the event wait for the payment that has one of these ids, or for what else goes by such a name."""
        self.stage_parked(ids)
        return Booking(EventStatus.Parked, reason)

    def stage_parked(self, ids: Sequence[str]) -> None:
        """Stage that the event is looked at again when something is told under one of these ids, whatever it is now."""
        payments.stage_parked(
            organization_id=self.organization_id, gateway=self.gateway, event_id=self.event.id, aliases=ids
        )

    def wake(self, ids: Sequence[str], *, credited: payments.GatewayPayment | None = None) -> None:
        """Let the events go on that wait under one of these names, and those that a `credited` payment explains."""
        waiting = payments.release_parked(
            organization_id=self.organization_id, gateway=self.gateway, aliases=ids, credited=credited
        )
        self.look_again(waiting)

    def look_again(self, event_ids: Sequence[UUID]) -> None:
        """Have these events worked on again, whatever became of them."""
        if event_ids:
            inbox.stage_retry(organization_id=self.organization_id, event_ids=event_ids)
        for event_id in event_ids:
            work.enqueue(jobs.GATEWAY_EVENT, organization_id=self.organization_id, event_id=event_id)

    def look_again_at_payments(self, who: payments.Payer, since: datetime | None) -> None:
        """Have a buyer's payments since then worked on again that credited nobody. Budget: 1 statement."""
        self.look_again(
            payments.list_unreferred(organization_id=self.organization_id, gateway=self.gateway, who=who, since=since)
        )

    def look_up(self, paid: PaymentFact, row: payments.GatewayPayment) -> None:
        """Have platforms asked who brought the buyer of a payment that credits nobody, once it is booked."""
        if not self.has_lookups or paid.origin.email is None:
            return
        pending = PendingLookup(ids.new_id(), self.organization_id, row.id, payment_json.serialize(paid), self.now)
        lookups.stage(pending)
        work.enqueue(jobs.PLATFORM_LOOKUP, organization_id=self.organization_id, lookup_id=pending.id)
