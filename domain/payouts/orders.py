"""The sort orders of payouts, each backed by an index."""

from enum import StrEnum


class PayoutOrder(StrEnum):
    """`newest` and `oldest` sort by the time a payout was created, `largest` and `smallest` by its amount in USD."""

    newest = "newest"
    oldest = "oldest"
    largest = "largest"
    smallest = "smallest"


#: The orders by a number.
BY_AMOUNT = (PayoutOrder.largest, PayoutOrder.smallest)
