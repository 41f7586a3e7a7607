"""The part of a payment that counts as the sale, and the part of a refund that counts against it.

With the basis `net` a conversion's amount is less than the payment; a refund then counts by its share of the payment,
and the completing refund takes the exact remainder. Source: tracking spec, "Refund body" (partial refunds).
"""

from dataclasses import dataclass
from enum import StrEnum

from domain.money import money


class CommissionBasis(StrEnum):
    """The part of a payment that counts as the sale: all of it, or without tax and shipping where those are known."""

    Gross = "gross"
    Net = "net"


def sale_cents(basis: str, *, paid_cents: int, net_cents: int | None) -> int:
    """Return the part of a payment that counts as the sale, in minor units; `net_cents` is None where not reported."""
    return net_cents if basis == CommissionBasis.Net and net_cents is not None else paid_cents


def refunded_sale_cents(*, amount_cents: int, paid_cents: int, refunded_cents: int) -> int:
    """Return how much of a conversion's amount is refunded when `refunded_cents` of the payment went back.

    Units: minor units; `amount_cents` is the conversion's, `paid_cents` and `refunded_cents` are gross. Rounds half to
    even; all of the amount once everything went back.
    """
    if refunded_cents >= paid_cents:
        return amount_cents
    return money.divide_half_even(amount_cents * refunded_cents, paid_cents)


@dataclass(frozen=True, slots=True)
class RefundedParts:
    """The refunded sum of a conversion, in its minor units, and the part of it that its gateway has not reported.

    The brand booked that part; None: the brand booked no refund.
    """

    refunded_cents: int
    unreported_cents: int | None


def with_grown_amount(parts: RefundedParts, *, amount_cents: int, reported_cents: int) -> RefundedParts:
    """Return the refunded parts of a conversion after its amount grew to `amount_cents`; the brand's part stays.

    `reported_cents` is the part of the new amount that its gateway has reported as refunded; it can differ from the
    earlier one where the added payment counts by another share.
    """
    return RefundedParts(min(reported_cents + (parts.unreported_cents or 0), amount_cents), parts.unreported_cents)


def with_gateway_refunds(parts: RefundedParts, *, reported_cents: int) -> RefundedParts:
    """Return the refunded parts of a conversion after its gateway reports a refunded sum of `reported_cents`.

    A reported refund is first matched with the brand's own, so only the excess is taken back; money that the gateway
    reports as returned leaves the brand's refund as it is.
    """
    unreported_cents = parts.unreported_cents or 0
    earlier_cents = parts.refunded_cents - unreported_cents
    if reported_cents < earlier_cents:
        return RefundedParts(reported_cents + unreported_cents, parts.unreported_cents)
    refunded_cents = max(reported_cents, parts.refunded_cents)
    return RefundedParts(refunded_cents, refunded_cents - reported_cents or None)
