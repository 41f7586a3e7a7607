"""The part of a payment that a lower total of its order takes back, in addition to refunds and disputes.

A gateway reports one refund in two ways: as a refund, and as a lower total of the order. So the larger of the two goes
back, never their sum. The total of a cancelled order is 0.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaymentTotals:
    """The totals of a payment, gross, in minor units.

    `total_cents` is the order's total as last reported by its gateway, None if it never was. `by_refunds` and
    `by_disputes` are the sums that refunds and lost disputes took and did not give back.
    """

    paid_cents: int
    total_cents: int | None
    by_refunds: int = 0
    by_disputes: int = 0


def taken_by_total(totals: PaymentTotals) -> int:
    """Return how much the order's total takes back beyond its refunds and disputes."""
    if totals.total_cents is None:
        return 0
    lowered_cents = totals.paid_cents - totals.total_cents - totals.by_refunds
    remains_cents = totals.paid_cents - totals.by_refunds - totals.by_disputes
    return max(min(lowered_cents, remains_cents), 0)
