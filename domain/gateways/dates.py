"""Limits on the dates of payments, which come from a gateway's clock and may be wrong.

They are compared with leads, clicks and payments of other clocks, so none may be later than the event that reports it.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from domain.gateways.facts import CancelledFact, Fact, PaymentFact, ReferralFact, StartFact, TotalFact

#: How far ahead of the database's clock a date may be: clocks differ by seconds.
TOLERANCE = timedelta(minutes=1)


def limit_date(fact: Fact, received_at: datetime) -> Fact:
    """Return a fact with the time of its event in place of a date more than TOLERANCE after it.

    In whole seconds, as gateways report them: anything else in that second counts as before the payment.
    """
    at = received_at.replace(microsecond=0)
    match fact:
        case PaymentFact():
            is_change_ahead = fact.told_at is not None and _is_ahead(fact.told_at, received_at)
            return replace(
                fact,
                paid_at=at if _is_ahead(fact.paid_at, received_at) else fact.paid_at,
                told_at=at if is_change_ahead else fact.told_at,
            )
        case TotalFact() | CancelledFact() if _is_ahead(fact.told_at, received_at):
            return replace(fact, told_at=at)
        case StartFact() if _is_ahead(fact.started_at, received_at):
            return replace(fact, started_at=at)
        case ReferralFact() if _is_ahead(fact.told_at, received_at):
            return replace(fact, told_at=at)
    return fact


def _is_ahead(at: datetime, received_at: datetime) -> bool:
    return at - received_at > TOLERANCE
