"""What is told apart from payments: other ids of a payment, and who referred a customer."""

from datetime import timedelta

from domain.gateways.facts import AliasFact, ReferralFact
from models.gateways import payments
from pipelines.gateways.booking import origins
from pipelines.gateways.booking.desk import Booking, BookingDesk

# A payment that nobody was credited for is looked at again when its customer's referral is told this much later.
_TOLD_WITHIN = timedelta(days=7)


def alias(desk: BookingDesk, told: AliasFact) -> Booking:
    """Keep other ids of a payment; the event waits for a payment that is not known yet."""
    known = desk.known(told.ids)
    if known is None:
        return desk.park(told.ids)
    payments.stage_aliases(known, told.ids)
    desk.wake(told.ids)
    return Booking(conversion_id=known.conversion_id)


def referred(desk: BookingDesk, told: ReferralFact) -> Booking:
    """Keep who referred a customer or a subscription, and look again at their payments that credited nobody."""
    origins.stage(desk, told.origin, told_at=told.told_at)
    asked = asked_before(desk, told)
    desk.look_again_at_payments(asked.who, asked.paid_at)
    return Booking()


def asked_before(desk: BookingDesk, told: ReferralFact) -> payments.AskedBefore:
    """Return what is to be asked before who referred a customer is kept: whether payments are to be looked at again."""
    who = payments.Payer(told.origin.customer_id, told.origin.subscription_id)
    return payments.AskedBefore(desk.gateway, (), who=who, paid_at=told.told_at - _TOLD_WITHIN)
