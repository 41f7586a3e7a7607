"""The amount of a payment that counts as the sale, and the part of it that a refund takes back.

With the basis `net` a conversion's amount is less than the payment; a refund then counts by its share of the
payment, and the one that completes it takes the exact rest. Source: tracking spec, "Refund body" (partial refunds).
"""

from dataclasses import dataclass
from enum import StrEnum

from domain.money import money


class CommissionBasis(StrEnum):
    """The amount that counts as the sale: the whole payment, or without tax and shipping where they are known."""

    Gross = "gross"
    Net = "net"


def amount_of(basis: str, *, paid_cents: int, net_cents: int | None) -> int:
    """Return the amount that counts as the sale, in minor units; `net_cents` is None where it is unknown."""
    return net_cents if basis == CommissionBasis.Net and net_cents is not None else paid_cents


def refunded(*, amount_cents: int, paid_cents: int, refunded_cents: int) -> int:
    """Return how much of a conversion's amount is refunded when that much of its payment was refunded.

    Units: minor units; `amount_cents` is the conversion's, `paid_cents` and `refunded_cents` are gross. Rounds half to
    even; all of the amount once everything was refunded.
    """
    if refunded_cents >= paid_cents:
        return amount_cents
    return money.divide_half_even(amount_cents * refunded_cents, paid_cents)


@dataclass(frozen=True, slots=True)
class RefundedParts:
    """The refunded amount of a conversion, in its minor units, and the part of it that its gateway has not reported.

    That part was booked by the brand; None: nothing was.
    """

    refunded_cents: int
    unreported_cents: int | None


def grown(parts: RefundedParts, *, amount_cents: int, reported_cents: int) -> RefundedParts:
    """Return the refunded amount of a conversion once its amount grew to `amount_cents`; the brand's part stays.

    `reported_cents` is the part of the new amount that its gateway had reported by then: it may be another one than
    before, where the added amount counts by another share of its payment.
    """
    return RefundedParts(min(reported_cents + (parts.unreported_cents or 0), amount_cents), parts.unreported_cents)


def followed(parts: RefundedParts, *, reported_cents: int) -> RefundedParts:
    """Return the refunded amount of a conversion once its gateway reports that `reported_cents` of it are.

    A refund that the gateway reports is taken for the brand's up to its amount, so only the excess is taken
    back; money that the gateway reports as come back leaves the brand's refund as it is.
    """
    unreported_cents = parts.unreported_cents or 0
    known_cents = parts.refunded_cents - unreported_cents
    if reported_cents < known_cents:
        return RefundedParts(reported_cents + unreported_cents, parts.unreported_cents)
    refunded_cents = max(reported_cents, parts.refunded_cents)
    return RefundedParts(refunded_cents, refunded_cents - reported_cents or None)
