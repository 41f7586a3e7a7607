"""The effect of a user's decision about a conversion on that conversion and on its override.

Source: core spec, section 3 "States" (Conversion); tracking spec, section 3 "States and transitions" (Override
conversion). `refund` decides how much a refund takes back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from domain.conversions import refund
from domain.statuses import UNPAID, ConversionStatus


class Action(StrEnum):
    """A decision about a conversion. The value is the name of the event that reports it."""

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
class AppliedRefund:
    """A refund that applies to a row: the running total of the sale's refunds (minor units), and whether it is full.

    `taken_cents` is what it has reversed on the row so far; negative for a restoration.
    """

    refund_id: UUID
    cumulative_cents: int
    is_full: bool
    is_restoration: bool = False
    taken_cents: int = 0


def next_status(action: Action, status: str) -> ConversionStatus | None:
    """Return the status that an action leads to; None if a conversion with this status does not allow it."""
    sources, target = _NEXT[action]
    return target if status in sources else None


def override_status(action: Action, status: str) -> ConversionStatus | None:
    """Return the new status of an override when an action is taken on its parent; None if it does not change.

    A paid or refunded override stays as it is, and each row is approved by itself. A denied parent denies an
    invalidated override as well, since the parent can never come back.
    """
    if action == Action.approve:
        return None
    if action == Action.deny and status == ConversionStatus.Invalidated:
        return ConversionStatus.Denied
    return next_status(action, status)


def list_late_reversals(
    *, commission_cents: int, reversed_cents: int, parent_amount_cents: int, refunds: Sequence[AppliedRefund]
) -> list[tuple[UUID, int]]:
    """Return the amount that each refund reverses on a row that earns again, in their order, in minor units.

    Refunds that reverse nothing are left out; the amount of a restoration is negative. `refunds` are all refunds of the
    row in order of acceptance; `reversed_cents` is the amount reversed so far.
    """
    reversals = []
    reversed_cents -= sum(applied.taken_cents for applied in refunds)
    for applied in refunds:
        reversed_cents += applied.taken_cents
        cents = refund.compute_reversal_change(
            commission_cents=commission_cents,
            reversed_cents=reversed_cents,
            parent_amount_cents=parent_amount_cents,
            parent_cumulative_cents=applied.cumulative_cents,
            parent_is_full=applied.is_full,
            is_restoration=applied.is_restoration,
        )
        reversed_cents += cents
        if cents:
            reversals.append((applied.refund_id, cents))
    return reversals
