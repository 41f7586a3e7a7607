"""What of a payment counts as the sale, and what of a refund counts against it.

With the basis `net` a conversion's amount is less than what was paid; a refund then counts by its share of what was
paid, and the one that completes it takes the exact rest. Source: tracking spec, "Refund body" (partial refunds).
"""

from dataclasses import dataclass
from enum import StrEnum

from domain.money import money


class CommissionBasis(StrEnum):
    """What of a payment counts as the sale: all that was paid, or that without tax and shipping where they are told."""

    Gross = "gross"
    Net = "net"


def amount_of(basis: str, *, paid_cents: int, net_cents: int | None) -> int:
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


@dataclass(frozen=True, slots=True)
class RefundedParts:
    """What is refunded of a conversion, in its minor units, and which part of that its gateway has not reported.

    That part was booked by the brand; None: nothing was.
    """

    refunded_cents: int
    unreported_cents: int | None


def grown(parts: RefundedParts, *, amount_cents: int, reported_cents: int) -> RefundedParts:
    """Return what is refunded of a conversion once its amount grew to `amount_cents`; the brand's part stays.

    `reported_cents` is the part of the new amount that its gateway had reported by then: it may be another one than
    before, where what was added counts by another share of what was paid.
    """
    return RefundedParts(min(reported_cents + (parts.unreported_cents or 0), amount_cents), parts.unreported_cents)


def followed(parts: RefundedParts, *, reported_cents: int) -> RefundedParts:
    """Return what is refunded of a conversion once its gateway says that `reported_cents` of it are.

    A refund that the gateway reports is taken for the brand's as far as that goes, so only what exceeds it is taken
    back; money that the gateway reports as come back leaves the brand's refund as it is.
    """
    unreported_cents = parts.unreported_cents or 0
    known_cents = parts.refunded_cents - unreported_cents
    if reported_cents < known_cents:
        return RefundedParts(reported_cents + unreported_cents, parts.unreported_cents)
    refunded_cents = max(reported_cents, parts.refunded_cents)
    return RefundedParts(refunded_cents, refunded_cents - reported_cents or None)
