"""Charges for deals on the processor's list that are missing in the books."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class ChargeProblem(StrEnum):
    """Why a charge is missing in the books."""

    deal_unknown = "deal_unknown"
    deal_not_funded = "deal_not_funded"


#: The meaning of each problem and what to do about it, for operators.
ADVICE: Mapping[ChargeProblem, str] = {
    ChargeProblem.deal_unknown: "its deal is not here: refund the charge at the processor, or keep it if the brand"
    " says that the work was done and paid",
    ChargeProblem.deal_not_funded: "its deal is here and not funded: after the release its Owner funds it again, which"
    " finds this charge and makes no other; if the deal is off, refund the charge at the processor",
}


@dataclass(frozen=True, slots=True)
class ListedCharge:
    """A charge for a deal on the processor's list. `amount_cents` are minor units, net of refunds."""

    reference: str
    deal_id: UUID
    amount_cents: int
    currency: str
    made_at: datetime


@dataclass(frozen=True, slots=True)
class UnknownCharge:
    """A charge that is missing in the books."""

    reference: str
    deal_id: UUID
    amount_cents: int
    currency: str
    made_at: datetime
    problem: ChargeProblem
