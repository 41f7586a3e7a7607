"""A payment that credited nobody is credited by what platforms know of its buyer: once, and as any other is booked."""

from dataclasses import replace

from domain.gateways.facts import PaymentFact
from domain.platforms.signups import Signups
from models.gateways import inbox, orders, payments
from models.gateways.payments import GatewayPayment
from pipelines.gateways.booking import parts, reverse, sell, whom
from pipelines.gateways.booking.desk import BookingDesk


def credit(desk: BookingDesk, paid: PaymentFact, signups: Signups) -> bool:
    """Book a payment by what platforms claim of its buyer; say whether it is settled now, by them or by others before.

    An affiliate who is not Approved is passed over, unless platforms are not asked again and nobody else is named: then
    the payment is listed as uncredited. What went back meanwhile is taken from the conversion.
    Budget: 4 round trips (known; who; what went back; events that waited), after the locks of the payment; more where
    it is a further payment of an order.
    """
    known = desk.known([paid.external_id, *paid.aliases])
    if known is None or known.reason != whom.NOBODY:
        return True
    paid = replace(paid, amount_cents=known.paid_cents)
    conversion_id = orders.find_conversion(known)
    if conversion_id is not None:
        joined = parts.join(desk, paid, known, conversion_id, aliases=[])
        if joined is not None:
            return _credited(desk, joined)
    found = whom.of(desk, paid.origin, paid.paid_at, signups)
    if found.named is None:
        return False
    row = sell.booked(desk, paid, replace(known, reason=found.reason), found, found.named)
    payments.stage(row, aliases=[])
    return _credited(desk, row)


def _credited(desk: BookingDesk, row: GatewayPayment) -> bool:
    inbox.stage_explanation(
        organization_id=desk.organization_id, event_id=row.event_id, reason=row.reason, conversion_id=row.conversion_id
    )
    if row.conversion_id is not None:
        reverse.catch_up(desk, row)
        desk.wake([], credited=row)
    return True
