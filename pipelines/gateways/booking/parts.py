"""Further payments of one order or invoice: they are one sale with the first, whose conversion grows by them."""

from dataclasses import replace
from uuid import UUID

from domain.conversions import growth
from domain.gateways.facts import PaymentFact
from models import advisory_locks
from models.gateways import orders, payments
from models.gateways.payments import GatewayPayment
from pipelines.conversions import addition, refund
from pipelines.gateways.booking import money_back
from pipelines.gateways.booking.desk import BookingDesk


def join(
    desk: BookingDesk, paid: PaymentFact, row: GatewayPayment, conversion_id: UUID, *, aliases: list[str]
) -> GatewayPayment | None:
    """Add a payment to the conversion of its order, and stage it; None where it is other money than the conversion's.

    By the terms of the first payment: whom it credited and its rate. It is counted with its customer's first payment of
    the order. What was refunded of it before follows.
    Budget: 3 round trips (conversion; other payments; override), the writes with the last.
    """
    advisory_locks.stage_shared_payout_run_lock(desk.organization_id)
    conversion = refund.lock_conversion(desk.organization_id, conversion_id)
    if (conversion.currency, conversion.is_test) != (row.currency, row.is_test):
        return None
    row = replace(row, conversion_id=conversion_id, reason=None)
    others = orders.sum_other_payments(row)
    added_cents = growth.count_payment(
        amount_cents=conversion.amount_cents,
        paid_cents=others.paid_cents,
        more_paid_cents=row.paid_cents,
        more_net_cents=paid.net_cents,
    )
    payments.stage(row, aliases=aliases)
    grown = addition.add(conversion, added_cents, payment_id=row.id, now=desk.now)
    money_back.bring_to_refunds(desk, row, grown, None, known_cents=others.refunded_cents)
    return row
