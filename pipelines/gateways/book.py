"""Books what an event means, fact by fact, in one transaction. What is booked already changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.gateways.facts import (
    AliasFact,
    DisconnectedFact,
    DisputeFact,
    Fact,
    IgnoredFact,
    PaymentFact,
    ReferralFact,
    RefundFact,
    RestoredFact,
    StartFact,
    UnclearFact,
)
from domain.gateways.states import EventStatus
from pipelines.gateways import bind, connect, reverse, sell
from pipelines.gateways.desk import Booking, BookingDesk

# What an event became by what its facts became: the first of these that one of them is.
_WEIGHT = (EventStatus.Parked, EventStatus.Processed, EventStatus.Ignored)


@dataclass(frozen=True, slots=True)
class BookedEvent:
    """What became of an event."""

    status: EventStatus
    reason: str | None
    conversion_ids: tuple[UUID, ...]


def event(desk: BookingDesk, facts: Sequence[Fact]) -> BookedEvent:
    """Book the facts of an event in their order."""
    bookings = [_fact(desk, fact) for fact in facts] or [Booking(EventStatus.Ignored, "nothing_in_it")]
    status = next(status for status in _WEIGHT if any(booking.status == status for booking in bookings))
    reasons = [booking.reason for booking in bookings if booking.status == status and booking.reason]
    touched = [booking.conversion_id for booking in bookings if booking.conversion_id]
    return BookedEvent(status, reasons[0] if reasons else None, tuple(dict.fromkeys(touched)))


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
        case RefundFact():
            return reverse.refunded(desk, fact)
        case RestoredFact():
            return reverse.restored(desk, fact)
        case DisputeFact():
            return reverse.disputed(desk, fact)
        case DisconnectedFact():
            connect.disconnect(desk.connection, now=desk.now)
            return Booking(reason="disconnected")
        case UnclearFact():
            return Booking(EventStatus.Parked, fact.reason)
        case IgnoredFact():
            return Booking(EventStatus.Ignored, fact.reason)
