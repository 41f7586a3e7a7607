"""What a funding source is asked, and what a deal costs the brand. Answers are those of payout rails.

A charge takes a whole deal's money once; a refund gives a part of it back. Amounts are minor units of the deal's
currency. The platform's take comes on top of each milestone.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from domain.money import money

#: What names a finished charge or refund among an answer's references.
REFERENCE = "reference"
_WHOLE_BPS = 10_000


class FundingKind(StrEnum):
    """Which way the money goes: from the brand, or back to it."""

    charge = "charge"
    refund = "refund"


@dataclass(frozen=True, slots=True)
class FundingCall:
    """One attempt to charge a brand or to give it money back, under a key that stays the same until it is refused.

    `source` is whom a charge takes it from, as the operator named them; `charge_reference` what a refund gives back
    from. `known` is what the other side called this very attempt before. Neither shows in the object's text.
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
    """Return what the platform takes on top of a milestone, half to even: 250 basis points of 20 are 0, of 60 are 2."""
    return money.divide_half_even(amount_cents * bps, _WHOLE_BPS)


def charge_key(*, deal_id: UUID, number: int) -> str:
    """Return the name of a charge that the funding source knows it by; `number` counts from 1."""
    return f"deal:{deal_id}:charge:{number}"


def refund_key(*, milestone_id: UUID, number: int) -> str:
    """Return the name of a refund that the funding source knows it by; `number` counts from 1."""
    return f"milestone:{milestone_id}:refund:{number}"
