"""What of a payment counts as the sale, and what of a refund counts against it.

With the basis `net` a conversion's amount is less than what was paid; a refund then counts by its share of what was
paid, and the one that completes it takes the exact rest. Source: tracking spec, "Refund body" (partial refunds).
"""

from domain.money import money


def refunded(*, amount_cents: int, paid_cents: int, refunded_cents: int) -> int:
    """Return how much of a conversion's amount is refunded when that much of what was paid went back.

    Units: minor units; `amount_cents` is the conversion's, `paid_cents` and `refunded_cents` are gross. Rounds half to
    even; all of the amount once everything went back.
    """
    if refunded_cents >= paid_cents:
        return amount_cents
    return money.divide_half_even(amount_cents * refunded_cents, paid_cents)
