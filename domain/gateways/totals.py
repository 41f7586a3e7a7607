"""Computes the part of a payment that its order's own total takes back, in addition to refunds and disputes.

A gateway reports one refund in two ways: as a refund, and as a smaller total of the order. So the larger of the
two is taken back, never their sum. The total of a cancelled order is 0.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaymentTotals:
    """The amounts that were taken of a payment, gross, in minor units.

    `total_cents` is the total of the order that its gateway reported last, None where it never did.
    `by_refunds` and `by_disputes` are the amounts that refunds and lost disputes took and did not give back.
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
