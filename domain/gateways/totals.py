"""Computes what an order's own total takes back of its payment, in addition to refunds and disputes.

A gateway reports one refund in two ways: as a refund, and as a smaller total of the order. So what goes back is the
larger of the two, never their sum. An order that was cancelled comes to nothing.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaymentTotals:
    """What was taken of a payment, gross, in minor units.

    `total_cents` is what the order comes to by its gateway's last word, None where the gateway never told it.
    `by_refunds` and `by_disputes` are what refunds and lost disputes took and did not give back.
    """

    paid_cents: int
    total_cents: int | None
    by_refunds: int = 0
    by_disputes: int = 0


def taken_by_total(totals: PaymentTotals) -> int:
    """Return how much the order's total takes back that no refund and no dispute has taken."""
    if totals.total_cents is None:
        return 0
    lowered_cents = totals.paid_cents - totals.total_cents - totals.by_refunds
    remains_cents = totals.paid_cents - totals.by_refunds - totals.by_disputes
    return max(min(lowered_cents, remains_cents), 0)
