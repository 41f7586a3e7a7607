"""Books what an event means, fact by fact, in one transaction. What is booked already changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.gateways.facts import (
    AliasFact,
    CancelledFact,
    DisconnectedFact,
    DisputeFact,
    Fact,
    IgnoredFact,
    PaymentFact,
    ReferralFact,
    RefundFact,
    RestoredFact,
    StartFact,
    TotalFact,
    UnclearFact,
)
from domain.gateways.states import EventStatus
from models import advisory_locks
from models.gateways.connections import GatewayConnection
from pipelines.gateways import connect
from pipelines.gateways.booking import bind, origins, reverse, sell, totals, whom
from pipelines.gateways.booking.desk import Booking, BookingDesk

# What an event became by what its facts became: the first of these that one of them is.
_WEIGHT = (EventStatus.Parked, EventStatus.Processed, EventStatus.Ignored)


@dataclass(frozen=True, slots=True)
class BookedEvent:
    """What became of an event."""

    status: EventStatus
    reason: str | None
    conversion_ids: tuple[UUID, ...]


def stage_locks(connection: GatewayConnection, facts: Sequence[Fact]) -> None:
    """Stage the advisory locks of all names in the facts, before any other lock: the holder may lock all their events.

    An event that waits for one of them may be worked on again at the moment in which it is woken.
    """
    names = [name for fact in facts for name in _names(fact) if name]
    advisory_locks.stage_gateway_names_lock(
        organization_id=connection.organization_id, gateway=connection.gateway, names=names
    )


def event(desk: BookingDesk, facts: Sequence[Fact]) -> BookedEvent:
    """Book the facts of an event in their order, after their locks were taken."""
    bookings = [_fact(desk, fact) for fact in facts] or [Booking(EventStatus.Ignored, "nothing_in_it")]
    status = next(status for status in _WEIGHT if any(booking.status == status for booking in bookings))
    reasons = [booking.reason for booking in bookings if booking.status == status and booking.reason]
    touched = [booking.conversion_id for booking in bookings if booking.conversion_id]
    return BookedEvent(status, reasons[0] if reasons else None, tuple(dict.fromkeys(touched)))


def _names(fact: Fact) -> Sequence[str | None]:
    match fact:
        case PaymentFact():
            # Payments that one inbox made take locks too: the later one is looked at again if the earlier is credited.
            subjects = [*origins.subjects(fact.origin), whom.inbox_of(fact.origin)]
            checkout = origins.checkout_name(fact.origin.checkout) if fact.origin.checkout else None
            order = f"order:{fact.order_id}" if fact.order_id else None
            return [fact.external_id, *fact.aliases, *subjects, checkout, order]
        case StartFact():
            # Its lead credits the payments from its inbox.
            return [fact.external_id, *origins.subjects(fact.origin), whom.inbox_of(fact.origin)]
        case ReferralFact():
            return origins.subjects(fact.origin)
        case AliasFact():
            return fact.ids
        case TotalFact() | CancelledFact():
            return fact.sale_ids
        case RefundFact() | RestoredFact():
            return [*fact.sale_ids, fact.refund_id]
        case DisputeFact():
            return [*fact.sale_ids, fact.dispute_id]
    return ()


def _fact(desk: BookingDesk, fact: Fact) -> Booking:
    match fact:
        case PaymentFact():
            return sell.payment(desk, fact)
        case StartFact():
            return sell.start(desk, fact)
        case ReferralFact():
            return bind.referred(desk, fact)
        case AliasFact():
            return bind.alias(desk, fact)
        case TotalFact():
            return totals.total(desk, fact)
        case CancelledFact():
            return totals.cancelled(desk, fact)
        case RefundFact():
            return reverse.refunded(desk, fact)
        case RestoredFact():
            return reverse.restored(desk, fact)
        case DisputeFact():
            return reverse.disputed(desk, fact)
        case DisconnectedFact():
            is_news = connect.disconnect_if_told(desk.connection, told_at=desk.event.received_at, now=desk.now)
            return Booking(reason="disconnected" if is_news else "known")
        case UnclearFact():
            return Booking(EventStatus.Parked, fact.reason)
        case IgnoredFact():
            return Booking(EventStatus.Ignored, fact.reason)
