"""Decides what a person's word about a conversion does to it and to the override above it.

Source: core spec, section 3 "States" (Conversion); tracking spec, section 3 "States and transitions" (Override
conversion). What a refund takes back is in `refund`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from domain.conversions import refund
from domain.statuses import UNPAID, ConversionStatus


class Action(StrEnum):
    """What is said about a conversion. The value is the name of the event that tells of it."""

    validate = "validated"
    invalidate = "invalidated"
    approve = "approved"
    deny = "denied"


_NEXT = {
    Action.validate: ((ConversionStatus.Invalidated,), ConversionStatus.Pending),
    Action.invalidate: (UNPAID, ConversionStatus.Invalidated),
    Action.approve: ((ConversionStatus.Pending,), ConversionStatus.Approved),
    Action.deny: (UNPAID, ConversionStatus.Denied),
}


@dataclass(frozen=True, slots=True)
class Reached:
    """A refund that reached a row: the running total of the sale's refunds (minor units), and if it completed them.

    `taken_cents` is what it took back from the row so far, negative for what a restoration gave back.
    """

    refund_id: UUID
    cumulative_cents: int
    is_full: bool
    is_restoration: bool = False
    taken_cents: int = 0


def next_status(action: Action, status: str) -> ConversionStatus | None:
    """Return the status that an action leads to; None when it cannot be taken on a conversion with this status."""
    sources, target = _NEXT[action]
    return target if status in sources else None


def override_status(action: Action, status: str) -> ConversionStatus | None:
    """Return the status that an override takes when its parent is acted on; None when it stays as it is.

    What was paid out or refunded is untouched, and an approval is each row's own. A parent that is denied denies an
    invalidated override as well: nothing brings that parent back.
    """
    if action == Action.approve:
        return None
    if action == Action.deny and status == ConversionStatus.Invalidated:
        return ConversionStatus.Denied
    return next_status(action, status)


def late_reversals(
    *, commission_cents: int, reversed_cents: int, parent_amount_cents: int, refunds: Sequence[Reached]
) -> list[tuple[UUID, int]]:
    """Return what each refund takes back from a row that earns again, in their order.

    Those that take nothing are left out, a restoration gives back and is negative. `refunds` are all that reached the
    row, in the order of acceptance; `reversed_cents` is what is reversed so far. Units: minor units.
    """
    found = []
    reversed_cents -= sum(each.taken_cents for each in refunds)
    for each in refunds:
        reversed_cents += each.taken_cents
        cents = refund.change(
            commission_cents=commission_cents,
            reversed_cents=reversed_cents,
            parent_amount_cents=parent_amount_cents,
            parent_cumulative_cents=each.cumulative_cents,
            parent_is_full=each.is_full,
            is_restoration=each.is_restoration,
        )
        reversed_cents += cents
        if cents:
            found.append((each.refund_id, cents))
    return found
