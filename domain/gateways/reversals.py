"""Decides how much of what a gateway tells of a refund is news.

It tells the same refund again, late, and by two kinds of events; a total that it told before some of that came back is
no news. Source: tracking spec, "Refund body" (partial refunds).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands of a payment when a refund is told, gross, in minor units.

    `refunded_cents` is what went back in all and `by_refunds` what did by refunds, not by disputes; `under_id` stands
    under the refund's own id, None where it is not known. `most_by_refunds` is what the gateway has said since that
    refunds come to, None where it has not; `in_dispute` is what a lost dispute took of which this refund is a part, and
    `by_total` what a lower total of the order took, which is the same money as its refunds.
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
        """What can still go back by a refund."""
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
    """Return what a lost dispute takes of a payment, gross: what it says, never more than remains.

    All that remains where it says nothing, or an amount of other money. With `covers_refunds` what went back of the
    payment before is part of what it says.
    """
    remains = paid_cents - refunded_cents
    if told_cents is None or told_currency != currency:
        return remains
    return max(min(told_cents - (refunded_cents if covers_refunds else 0), remains), 0)


def news(standing: Standing, told_cents: int | None, *, is_cumulative: bool) -> int:
    """Return what goes back now, never more than is left. None tells of all that remains.

    A refund that tells its own amount counts once by its id; a total counts as far as it exceeds what stands.
    """
    if is_cumulative:
        reported_cents = standing.left_cents if told_cents is None else told_cents - (standing.under_id or 0)
    elif standing.under_id is not None:
        reported_cents = 0
    else:
        reported_cents = standing.left_cents if told_cents is None else told_cents
    return max(min(reported_cents, standing.left_cents), 0)
