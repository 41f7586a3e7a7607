"""The new part of a reported refund.

A gateway reports the same refund repeatedly, late, and by two kinds of events; a total reported before a part of it
came back is not new. Source: tracking spec, "Refund body" (partial refunds).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaymentState:
    """The state of a payment when a refund is reported, gross, in minor units.

    `refunded_cents` is the sum that went back, of which `by_refunds` by refunds, not disputes; `under_id` is booked
    under the refund's own id, None for an unknown id. `most_by_refunds` is the gateway's later report of the sum of
    refunds, None without one; `in_dispute` is the sum of a lost dispute that includes this refund, and `by_total` the
    sum that a lower total of the order took, which is the same money as its refunds.
    """

    paid_cents: int
    refunded_cents: int
    by_refunds: int = 0
    under_id: int | None = None
    most_by_refunds: int | None = None
    in_dispute: int = 0
    by_total: int = 0

    @property
    def left_cents(self) -> int:
        """The amount that a refund can still return."""
        remaining = self.paid_cents - self.refunded_cents + self.in_dispute + self.by_total
        if self.most_by_refunds is None:
            return remaining
        return min(remaining, max(self.most_by_refunds - self.by_refunds, 0))


def lost_cents(
    *,
    paid_cents: int,
    refunded_cents: int,
    currency: str,
    reported_cents: int | None,
    reported_currency: str | None,
    covers_refunds: bool,
) -> int:
    """Return the amount that a lost dispute takes of a payment, gross: the reported one, at most all that remains.

    All that remains without a reported amount, or for one in another currency. With `covers_refunds` the reported
    amount includes earlier refunds of the payment.
    """
    remains = paid_cents - refunded_cents
    if reported_cents is None or reported_currency != currency:
        return remains
    return max(min(reported_cents - (refunded_cents if covers_refunds else 0), remains), 0)


def new_cents(payment: PaymentState, reported_cents: int | None, *, is_cumulative: bool) -> int:
    """Return the amount that goes back now, at most all that is left. None as the report means all that remains.

    A refund with its own amount counts once by its id; a total counts as far as it exceeds the booked sum.
    """
    if is_cumulative:
        new_cents = payment.left_cents if reported_cents is None else reported_cents - (payment.under_id or 0)
    elif payment.under_id is not None:
        new_cents = 0
    else:
        new_cents = payment.left_cents if reported_cents is None else reported_cents
    return max(min(new_cents, payment.left_cents), 0)
