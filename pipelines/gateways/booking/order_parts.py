"""Adds further payments of one order or invoice to the conversion of the first: all are one sale."""

from dataclasses import replace
from uuid import UUID

from domain.conversions import growth
from domain.gateways.facts import PaymentFact
from models import advisory_locks
from models.gateways import orders, payments
from models.gateways.payments import GatewayPayment
from pipelines.conversions import addition, refund
from pipelines.gateways.booking import payment_refunds
from pipelines.gateways.booking.context import BookingContext


def add_payment(
    context: BookingContext, fact: PaymentFact, row: GatewayPayment, conversion_id: UUID, *, aliases: list[str]
) -> GatewayPayment | None:
    """Add a payment to the conversion of its order, and stage it; None where currency or test mode differ.

    The terms of the first payment apply: its affiliate and its rate. The payment is not counted as a further one of its
    customer. Earlier refunds of it are applied as well.
    Budget: 3 round trips (conversion; other payments; override), the writes with the last.
    """
    advisory_locks.stage_shared_payout_run_lock(context.organization_id)
    conversion = refund.lock_conversion(context.organization_id, conversion_id)
    if (conversion.currency, conversion.is_test) != (row.currency, row.is_test):
        return None
    row = replace(row, conversion_id=conversion_id, reason=None)
    others = orders.sum_other_payments(row)
    added_cents = growth.count_payment(
        amount_cents=conversion.amount_cents,
        paid_cents=others.paid_cents,
        more_paid_cents=row.paid_cents,
        more_net_cents=fact.net_cents,
    )
    payments.stage(row, aliases=aliases)
    grown = addition.add(conversion, added_cents, payment_id=row.id, now=context.now)
    payment_refunds.apply_refunds(context, row, grown, None, known_cents=others.refunded_cents)
    return row
