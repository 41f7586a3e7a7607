"""Payments from before the gateway was connected, or from before their customer came from another affiliate system.

Source: tracking spec, section 8; the switch-over rules, "Both systems at once".
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from models.gateways import payments
from models.gateways.payments import GatewayPayment
from pipelines.gateways.booking.context import BookingContext, FactResult

#: Reasons of a payment: it predates the connection; it predates the switch of its customer.
BEFORE_CONNECTION, BEFORE_SWITCH = "before_connection", "before_switch"
REASONS = (BEFORE_CONNECTION, BEFORE_SWITCH)

# Gateways count time in whole seconds.
_A_SECOND = timedelta(seconds=1)


def find_reason(context: BookingContext, row: GatewayPayment, stored: payments.PaymentContext) -> str | None:
    """Return why a payment predates what this service counts; None for one that is decided.

    Payments of a former system's customer count from their cut-over, also before the gateway was connected, unless
    signed sales have counted them. Budget: as `BookingContext.was_connected` for a new payment, else none.
    """
    if stored.cut_over_at is not None and not row.is_test:
        if row.paid_at + _A_SECOND < stored.cut_over_at:
            return BEFORE_SWITCH
        if not stored.has_signed_sales:
            return None
    return BEFORE_CONNECTION if stored.payment is None and not context.was_connected(row.paid_at) else None


def book(context: BookingContext, row: GatewayPayment, reason: str, all_ids: Sequence[str]) -> FactResult:
    """Store a payment from before the connection or a switch without a conversion: others may have counted it."""
    payments.stage(replace(row, reason=reason), aliases=all_ids)
    context.release_parked(all_ids)
    return FactResult(reason=reason)
