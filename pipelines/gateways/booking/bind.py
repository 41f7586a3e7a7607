"""What is told apart from payments: other ids of a payment, and who referred a customer."""

from domain.gateways.facts import AliasFact, ReferralFact
from models.gateways import payments
from pipelines.gateways.booking import origins, whom
from pipelines.gateways.booking.desk import Booking, BookingDesk


def alias(desk: BookingDesk, told: AliasFact) -> Booking:
    """Keep other ids of a payment; the event waits for a payment that is not known yet."""
    known = desk.known(told.ids)
    if known is None:
        return desk.park(told.ids)
    payments.stage_aliases(known, told.ids)
    desk.wake(told.ids)
    return Booking(conversion_id=known.conversion_id)


def referred(desk: BookingDesk, told: ReferralFact) -> Booking:
    """Keep who referred a customer or a subscription, and queue their uncredited payments to be booked again.

    Payments count that were made within the cookie window of the named campaign before. Budget: 2 statements.
    """
    window = whom.claim_window(desk, told.origin.carriers, told.told_at)
    origins.stage(desk, told.origin, told_at=told.told_at, replaces=window is not None)
    if window is not None:
        desk.look_again_at_payments(_payer(told), told.told_at - window)
    return Booking()


def _payer(told: ReferralFact) -> payments.Payer:
    return payments.Payer(told.origin.customer_id, told.origin.subscription_id)
