"""A charge for a deal as the processor lists it, and what it means where the books do not have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class ChargeProblem(StrEnum):
    """Why a charge is not in the books."""

    deal_unknown = "deal_unknown"
    deal_not_funded = "deal_not_funded"


#: What each means and what to do about it, for operators.
ADVICE: Mapping[ChargeProblem, str] = {
    ChargeProblem.deal_unknown: "its deal is not here: give the charge back at the processor, or keep it where the work"
    " was done and paid, as the brand says",
    ChargeProblem.deal_not_funded: "its deal is here and not funded: after the release its Owner funds it again, which"
    " finds this charge and takes no other; if the deal is off, give the charge back at the processor",
}


@dataclass(frozen=True, slots=True)
class ListedCharge:
    """A charge for a deal on the processor's list. `amount_cents` are minor units, less what was given back."""

    reference: str
    deal_id: UUID
    amount_cents: int
    currency: str
    made_at: datetime


@dataclass(frozen=True, slots=True)
class UnknownCharge:
    """A charge that the books do not have."""

    reference: str
    deal_id: UUID
    amount_cents: int
    currency: str
    made_at: datetime
    problem: ChargeProblem
