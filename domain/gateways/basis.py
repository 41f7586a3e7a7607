"""What of a payment counts as the sale, and what of a refund counts against it.

With the basis `net` a conversion's amount is less than what was paid; a refund then counts by its share of what was
paid, and the one that completes it takes the exact rest. Source: tracking spec, "Refund body" (partial refunds).
"""

from enum import StrEnum

from domain.money import money


class CommissionBasis(StrEnum):
    """What of a payment counts as the sale: all that was paid, or that without tax and shipping where they are told."""

    Gross = "gross"
    Net = "net"


def counted(basis: str, *, paid_cents: int, net_cents: int | None) -> int:
    """Return what of a payment counts as the sale, in its minor units; `net_cents` is None where it is not told."""
    return net_cents if basis == CommissionBasis.Net and net_cents is not None else paid_cents


def refunded(*, amount_cents: int, paid_cents: int, refunded_cents: int) -> int:
    """Return how much of a conversion's amount is refunded when that much of what was paid went back.

    Units: minor units; `amount_cents` is the conversion's, `paid_cents` and `refunded_cents` are gross. Rounds half to
    even; all of the amount once everything went back.
    """
    if refunded_cents >= paid_cents:
        return amount_cents
    return money.divide_half_even(amount_cents * refunded_cents, paid_cents)


def followed(*, refunded_cents: int, before_cents: int, after_cents: int) -> int:
    """Return how much of a conversion is refunded once its gateway says that `after_cents` are, not `before_cents`.

    Units: minor units of the conversion, as `refunded` returns them. `refunded_cents` is what is refunded so far: what
    it exceeds `before_cents` by was booked by the brand and is not confirmed by the gateway yet. A refund that the
    gateway reports is taken for the brand's as far as that goes, so only what exceeds it is taken back; money that the
    gateway reports as come back leaves the brand's refund as it is.
    """
    if after_cents >= before_cents:
        return max(after_cents, refunded_cents)
    return refunded_cents - (before_cents - after_cents)
