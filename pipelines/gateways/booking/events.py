"""Books the facts of an event in one transaction. A fact that was booked before changes nothing."""

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
from models.gateways import payments
from models.gateways.connections import GatewayConnection
from pipelines.gateways import connect
from pipelines.gateways.booking import attribution, origins, reversals, sales, totals
from pipelines.gateways.booking.context import BookingContext, FactResult

# The status of an event is the first of these that one of its facts has.
_STATUSES_BY_WEIGHT = (EventStatus.Parked, EventStatus.Processed, EventStatus.Ignored)


@dataclass(frozen=True, slots=True)
class EventResult:
    """The result of booking an event: its status, why, and the conversions that it changed."""

    status: EventStatus
    reason: str | None
    conversion_ids: tuple[UUID, ...]


def stage_locks(connection: GatewayConnection, facts: Sequence[Fact]) -> None:
    """Stage the advisory locks of all ids and emails that the facts name. Call it before taking any other lock.

    The holder of a name's lock may lock every event that waits for the name. Such an event may be retried as soon as
    the lock is released.
    """
    names = [name for fact in facts for name in _list_lock_names(fact) if name]
    advisory_locks.stage_gateway_names_lock(
        organization_id=connection.organization_id, gateway=connection.gateway, names=names
    )


def book(context: BookingContext, facts: Sequence[Fact]) -> EventResult:
    """Book the facts of an event in their order, after their locks were taken."""
    results = [_book_fact(context, fact) for fact in facts] or [FactResult(EventStatus.Ignored, "nothing_in_it")]
    status = next(status for status in _STATUSES_BY_WEIGHT if any(result.status == status for result in results))
    reasons = [result.reason for result in results if result.status == status and result.reason]
    conversion_ids = [result.conversion_id for result in results if result.conversion_id]
    return EventResult(status, reasons[0] if reasons else None, tuple(dict.fromkeys(conversion_ids)))


def _list_lock_names(fact: Fact) -> Sequence[str | None]:
    match fact:
        case PaymentFact():
            # The email is locked too: if a payment is credited, later payments with the same email are retried.
            subjects = [*origins.list_subjects(fact.origin), attribution.normalize_email(fact.origin)]
            checkout = origins.checkout_name(fact.origin.checkout) if fact.origin.checkout else None
            order = f"order:{fact.order_id}" if fact.order_id else None
            return [fact.external_id, *fact.aliases, *subjects, checkout, order]
        case StartFact():
            # The email is locked because the lead credits payments with the same email.
            return [fact.external_id, *origins.list_subjects(fact.origin), attribution.normalize_email(fact.origin)]
        case ReferralFact():
            return origins.list_subjects(fact.origin)
        case AliasFact():
            return fact.ids
        case TotalFact() | CancelledFact():
            return fact.sale_ids
        case RefundFact() | RestoredFact():
            return [*fact.sale_ids, fact.refund_id]
        case DisputeFact():
            return [*fact.sale_ids, fact.dispute_id]
    return ()


def _book_fact(context: BookingContext, fact: Fact) -> FactResult:
    match fact:
        case PaymentFact():
            return sales.book_payment(context, fact)
        case StartFact():
            return sales.book_start(context, fact)
        case ReferralFact():
            return _book_referral(context, fact)
        case AliasFact():
            return _book_alias(context, fact)
        case TotalFact():
            return totals.book_total(context, fact)
        case CancelledFact():
            return totals.book_cancellation(context, fact)
        case RefundFact():
            return reversals.book_refund(context, fact)
        case RestoredFact():
            return reversals.book_restored_refund(context, fact)
        case DisputeFact():
            return reversals.book_dispute(context, fact)
        case DisconnectedFact():
            is_disconnected = connect.disconnect_on_event(
                context.connection, event_at=context.event.received_at, now=context.now
            )
            return FactResult(reason="disconnected" if is_disconnected else "known")
        case UnclearFact():
            return FactResult(EventStatus.Parked, fact.reason)
        case IgnoredFact():
            return FactResult(EventStatus.Ignored, fact.reason)


def _book_alias(context: BookingContext, fact: AliasFact) -> FactResult:
    """Store further ids of a payment; if the payment is not known yet, park the event until it is."""
    payment = context.lock_payment(fact.ids)
    if payment is None:
        return context.park_event(fact.ids)
    payments.stage_aliases(payment, fact.ids)
    context.release_parked(fact.ids)
    return FactResult(conversion_id=payment.conversion_id)


def _book_referral(context: BookingContext, fact: ReferralFact) -> FactResult:
    """Store who referred a customer or a subscription, and retry their uncredited payments.

    Only payments that are not older than the cookie window of the named campaign are retried. Budget: 2 statements.
    """
    window = attribution.claim_window(context, fact.origin.carriers, fact.told_at)
    origins.stage(context, fact.origin, told_at=fact.told_at, replaces=window is not None)
    if window is not None:
        payer = payments.Payer(fact.origin.customer_id, fact.origin.subscription_id)
        context.retry_uncredited_payments(payer, fact.told_at - window)
    return FactResult()
