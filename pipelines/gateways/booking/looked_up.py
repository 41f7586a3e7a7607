"""A payment that credited nobody is credited by what platforms know of its buyer: once, and as any other is booked."""

from dataclasses import replace

from domain.gateways.facts import PaymentFact
from domain.platforms.signups import Signups
from models.gateways import inbox, payments
from pipelines.gateways.booking import reverse, sell, whom
from pipelines.gateways.booking.desk import BookingDesk


def credit(desk: BookingDesk, paid: PaymentFact, signups: Signups) -> bool:
    """Book a payment by what platforms claim of its buyer; say whether it is settled now, by them or by others before.

    An affiliate who is not Approved is passed over, unless platforms are not asked again and nobody else is named: then
    the payment is listed as uncredited. What went back meanwhile is taken from the conversion.
    Budget: 4 round trips (known; who; what went back; events that waited), after the turns of the payment.
    """
    known = desk.known([paid.external_id, *paid.aliases])
    if known is None or known.reason != whom.NOBODY:
        return True
    found = whom.of(desk, paid.origin, paid.paid_at, signups)
    if found.named is None:
        return False
    row = sell.booked(desk, paid, replace(known, reason=found.reason), found, found.named)
    payments.stage(row, aliases=[])
    inbox.stage_explained(
        organization_id=desk.organization_id, event_id=row.event_id, reason=row.reason, conversion_id=row.conversion_id
    )
    if row.conversion_id is not None:
        reverse.catch_up(desk, row)
        desk.wake([], credited=row)
    return True
