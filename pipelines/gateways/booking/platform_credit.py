"""Credits a payment without an affiliate by the answers of platforms about its buyer: once, like any other payment."""

from dataclasses import replace

from domain.gateways.facts import PaymentFact
from domain.platforms.signups import Signups
from models.gateways import inbox, orders, payments
from models.gateways.payments import GatewayPayment
from pipelines.gateways.booking import attribution, order_parts, reversals, sales
from pipelines.gateways.booking.context import BookingContext


def credit_payment(context: BookingContext, fact: PaymentFact, signups: Signups) -> bool:
    """Book a payment by the signups that platforms report for its buyer; return whether it is settled now.

    It is settled as well where it was credited before. An affiliate who is not Approved is skipped, unless platforms
    are not queried again and no one else is named: then the payment is listed as uncredited. Refunds that came in the
    meantime are taken from the conversion.
    Budget: 4 round trips (payment; affiliate; refunds; waiting events), after the locks of the payment; more where it
    is a further payment of an order.
    """
    payment = context.lock_payment([fact.external_id, *fact.aliases])
    if payment is None or payment.reason != attribution.NO_REFERRAL:
        return True
    fact = replace(fact, amount_cents=payment.paid_cents)
    conversion_id = orders.find_conversion(payment)
    if conversion_id is not None:
        row_of_order = order_parts.add_payment(context, fact, payment, conversion_id, aliases=[])
        if row_of_order is not None:
            return _stage_credited(context, row_of_order)
    credit_ = attribution.decide(context, fact.origin, fact.paid_at, signups)
    if credit_.candidate is None:
        return False
    row = sales.book_conversion(context, fact, replace(payment, reason=credit_.reason), credit_, credit_.candidate)
    payments.stage(row, aliases=[])
    return _stage_credited(context, row)


def _stage_credited(context: BookingContext, row: GatewayPayment) -> bool:
    inbox.stage_explanation(
        organization_id=context.organization_id,
        event_id=row.event_id,
        reason=row.reason,
        conversion_id=row.conversion_id,
    )
    if row.conversion_id is not None:
        reversals.apply_earlier_reversals(context, row)
        context.release_parked([], credited=row)
    return True
