"""Computes how much of a reported refund is new.

A gateway reports the same refund again, late, and by two kinds of events; a total that it reported before some of it
was restored is not new. Source: tracking spec, "Refund body" (partial refunds).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """The booked amounts of a payment when a refund is reported, gross, in minor units.

    `refunded_cents` is refunded in all and `by_refunds` by refunds, not by disputes; `under_id` under the refund's own
    id, None for an unknown one. `most_by_refunds` is the total of refunds that the gateway reported since, None without
    one; `in_dispute` was taken by a lost dispute of which this refund is a part, and `by_total` by a lower total of the
    order, which is the same money as its refunds.
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
        """The amount that can still be refunded."""
        left = self.paid_cents - self.refunded_cents + self.in_dispute + self.by_total
        return left if self.most_by_refunds is None else min(left, max(self.most_by_refunds - self.by_refunds, 0))


def compute_lost_cents(
    *,
    paid_cents: int,
    refunded_cents: int,
    currency: str,
    told_cents: int | None,
    told_currency: str | None,
    covers_refunds: bool,
) -> int:
    """Return the amount that a lost dispute takes of a payment, gross: its own, never more than remains.

    All that remains where it has no amount, or one in another currency. With `covers_refunds` the earlier refunds of
    the payment are part of its amount.
    """
    remains = paid_cents - refunded_cents
    if told_cents is None or told_currency != currency:
        return remains
    return max(min(told_cents - (refunded_cents if covers_refunds else 0), remains), 0)


def news(standing: Standing, told_cents: int | None, *, is_cumulative: bool) -> int:
    """Return the new part of a reported refund, never more than is left. None is all that remains.

    A refund with an amount of its own counts once by its id; a total counts as far as it exceeds the booked amount.
    """
    if is_cumulative:
        reported_cents = standing.left_cents if told_cents is None else told_cents - (standing.under_id or 0)
    elif standing.under_id is not None:
        reported_cents = 0
    else:
        reported_cents = standing.left_cents if told_cents is None else told_cents
    return max(min(reported_cents, standing.left_cents), 0)
