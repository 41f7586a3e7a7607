"""Requests to a funding source, and the cost of a deal for the brand. Answers are those of payout rails.

A charge takes the money of a whole deal once; a refund returns a part of it. Amounts are minor units of the deal's
currency. The platform's take is added to each milestone.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from domain.money import money

#: The key of a finished charge or refund among an answer's references.
REFERENCE = "reference"
_WHOLE_BPS = 10_000


class FundingKind(StrEnum):
    """The direction of the money: from the brand, or back to it."""

    charge = "charge"
    refund = "refund"


@dataclass(frozen=True, slots=True)
class FundingCall:
    """One attempt to charge or to refund a brand, under a key that stays the same until it is refused.

    `source` is the payer of a charge, as the operator named it (hidden from the repr); `charge_reference` is the charge
    that a refund is taken from. `known` is the other side's earlier reference of this same attempt.
    Raises ValueError for an amount that is not a positive whole number.
    """

    kind: FundingKind
    key: str
    organization_id: UUID
    deal_id: UUID
    amount_cents: int
    currency: str
    source: str | None = field(default=None, repr=False)
    charge_reference: str | None = None
    known: str | None = None

    def __post_init__(self) -> None:
        if type(self.amount_cents) is not int or self.amount_cents <= 0:
            raise ValueError("the amount must be a positive whole number of minor units")


def take_cents(*, amount_cents: int, bps: int) -> int:
    """Return the platform's take on top of a milestone, half to even: 250 basis points of 20 are 0, of 60 are 2."""
    return money.divide_half_even(amount_cents * bps, _WHOLE_BPS)


def charge_key(*, deal_id: UUID, number: int) -> str:
    """Return the idempotency key of a charge at the funding source; `number` counts from 1."""
    return f"deal:{deal_id}:charge:{number}"


def refund_key(*, milestone_id: UUID, number: int) -> str:
    """Return the idempotency key of a refund at the funding source; `number` counts from 1."""
    return f"milestone:{milestone_id}:refund:{number}"
