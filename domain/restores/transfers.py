"""A transfer as its rail lists it, and what a reconcile made of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from domain.payouts.natives import NativeSum

_KEY = re.compile(r"payout:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([1-9][0-9]{0,8})")


class TransferState(StrEnum):
    """What the rail says of a transfer: the money has left, is on its way, or is not with the affiliate."""

    paid = "paid"
    in_flight = "in_flight"
    returned = "returned"


class TransferOutcome(StrEnum):
    """What a reconcile made of a transfer.

    Known: the books have it. Resumed: its payout is here and was marked as paid, or its rail is asked about it again.
    Booked: its payout was forgotten and is booked as paid. MovedNothing: there is nothing to book. Undecided: an
    operator has to decide. LeftOut: an operator decided that it stays unbooked.
    """

    Known = "Known"
    Resumed = "Resumed"
    Booked = "Booked"
    MovedNothing = "MovedNothing"
    Undecided = "Undecided"
    LeftOut = "LeftOut"


class Problem(StrEnum):
    """Why a transfer can't be booked without an operator."""

    unknown_organization = "unknown_organization"
    unknown_affiliate = "unknown_affiliate"
    several_affiliates = "several_affiliates"
    not_in_usd = "not_in_usd"
    in_flight = "in_flight"
    amount_differs = "amount_differs"
    organization_differs = "organization_differs"
    paid_twice = "paid_twice"
    payout_voided = "payout_voided"
    held_as_failed = "held_as_failed"
    payout_processing = "payout_processing"
    milestone_not_ready = "milestone_not_ready"
    came_back = "came_back"


#: What each problem means and what to do about it, for operators.
ADVICE: Mapping[Problem, str] = {
    Problem.unknown_organization: "no organization here is known to have paid it; assign it, or accept it if none has",
    Problem.unknown_affiliate: "its affiliate does not exist here; add them again, then assign it to them",
    Problem.several_affiliates: "several affiliates are paid to that account; assign it to one of them",
    Problem.not_in_usd: "it is not in US dollars; assign it with its amount in US cents",
    Problem.in_flight: "its rail has not settled it; reconcile again later, or assign it as if it were paid",
    Problem.amount_differs: "its payout here is of another amount; assign it, which lets go of that payout",
    Problem.organization_differs: "its payout here is another organization's; find out whose it is",
    Problem.paid_twice: "its payout is Paid here by another payment; assign it to have it netted, or accept it",
    Problem.payout_voided: "its payout was voided here; assign it to have it netted with what is due again",
    Problem.held_as_failed: "its payout here has failed under that key; assign it, which lets go of that payout",
    Problem.payout_processing: "its payout waits for a rail here; settle that with flask payout settle first",
    Problem.milestone_not_ready: "its milestone is not submitted here; accept it once the deal is as it was",
    Problem.came_back: "it was booked as paid and came back; credit the affiliate with it by hand, then accept it",
}


@dataclass(frozen=True, slots=True)
class RailTransfer:
    """A transfer on a rail's list, or in a file. `amount_cents` are minor units of `currency`.

    `reference` is the rail's own name of it. The ids are those that were sent with it, None where the rail has none.
    `account` does not show in the object's text, so that no log holds it by accident.
    """

    method: str
    reference: str
    state: TransferState
    amount_cents: int
    currency: str
    made_at: datetime
    account: str | None = field(default=None, repr=False)
    key: str | None = None
    payout_id: UUID | None = None
    organization_id: UUID | None = None
    affiliate_id: UUID | None = None
    milestone_id: UUID | None = None
    natives: tuple[NativeSum, ...] | None = None
    references: Mapping[str, str] = field(default_factory=dict)


def read_key(key: str | None) -> tuple[UUID, int] | None:
    """Return the payout and the number of the attempt that a key names; None for what is no key of ours."""
    parts = _KEY.fullmatch(key or "")
    return (UUID(parts[1]), int(parts[2])) if parts else None
