"""A transfer on a rail's list, and the outcome of its reconciliation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from domain.payouts.native_sums import NativeSum
from domain.payouts.transfers import MANUAL, REFERENCES, Method

_KEY = re.compile(r"payout:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([1-9][0-9]{0,8})")


class TransferState(StrEnum):
    """The rail's state of a transfer: the money was paid, is on its way, or was returned."""

    paid = "paid"
    in_flight = "in_flight"
    returned = "returned"


class TransferOutcome(StrEnum):
    """The outcome of a transfer's reconciliation.

    Known: the books have it. Resumed: its payout exists and was marked as paid, or its rail is queried again. Booked:
    its payout was lost and is booked as paid. MovedNothing: there is nothing to book. Undecided: an operator must
    decide. Waiting: it paid a milestone that is not due yet here, and counts when it is. LeftOut: an operator accepted
    it as it is.
    """

    Known = "Known"
    Resumed = "Resumed"
    Booked = "Booked"
    MovedNothing = "MovedNothing"
    Undecided = "Undecided"
    Waiting = "Waiting"
    LeftOut = "LeftOut"


class Problem(StrEnum):
    """Why a transfer cannot be booked without an operator."""

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
    before_restore = "before_restore"
    unknown_milestone = "unknown_milestone"
    milestone_paid = "milestone_paid"
    milestone_differs = "milestone_differs"
    milestone_unclear = "milestone_unclear"
    partly_returned = "partly_returned"
    came_back = "came_back"
    known_came_back = "known_came_back"
    booked_otherwise = "booked_otherwise"
    booking_undone = "booking_undone"


#: The meaning of each problem and what to do about it, for operators.
ADVICE: Mapping[Problem, str] = {
    Problem.unknown_organization: "no organization here is known to have paid it; assign it, or accept it if none has",
    Problem.unknown_affiliate: "its affiliate does not exist here; add them again, then assign it to them",
    Problem.several_affiliates: "several affiliates are paid to that account; assign it to one of them",
    Problem.not_in_usd: "it is not in US dollars; assign it with its amount in US cents",
    Problem.in_flight: "its rail has not settled it; reconcile again later, or assign it as if it were paid",
    Problem.amount_differs: "its payout here has another amount; assign it, which releases that payout",
    Problem.organization_differs: "its payout here is another organization's; find out whose it is, then assign it",
    Problem.paid_twice: "its payout is Paid here with another payment or amount; assign it to net it, or accept it",
    Problem.payout_voided: "its payout was voided here; assign it to have it netted with what is due again",
    Problem.held_as_failed: "its payout here, with the same key, has failed; assign it, which releases that payout",
    Problem.payout_processing: "its payout waits for a rail here; settle that with flask payout settle first, then"
    " reconcile again",
    Problem.before_restore: "it was made before MOMENT, and these books do not have it: if the books end before the"
    " MOMENT that you typed, reconcile again with the right one; else assign it, or accept it if it paid nothing of"
    " this service",
    Problem.unknown_milestone: "its deal is not here; accept it, and if the deal is made again, leave out this"
    " milestone",
    Problem.milestone_paid: "another payout here pays its milestone; if that is not Paid, have its Owner void it"
    " and reconcile again; if it is, the milestone was paid twice: settle that with the affiliate, then accept it",
    Problem.milestone_differs: "its milestone is worth another amount here; settle the difference with the brand"
    " and the affiliate, then accept it, and have the deal settled rather than approved: an approval pays the whole"
    " milestone",
    Problem.milestone_unclear: "it is unclear whether it paid commissions or a milestone that is unpaid here; assign"
    " it if it paid commissions, else reconcile with a list that has its milestone_id (--list METHOD=FILE)",
    Problem.partly_returned: "a part of it came back; assign it with --usd-cents of what the affiliate has kept"
    " (undo the booking first if there is one)",
    Problem.came_back: "it was booked as paid and came back; undo the booking, then the amount is due again",
    Problem.known_came_back: "its payout is Paid here and the money came back; have the Owner add a bonus of the"
    " same amount to the affiliate, which the next run pays, then accept it",
    Problem.booked_otherwise: "it was booked with an amount other than the listed one; accept it if the booking is"
    " right, else undo it, reconcile again and assign it",
    Problem.booking_undone: "its booking was undone; assign it to whom it has paid, or accept it if it paid no one",
}


@dataclass(frozen=True, slots=True)
class RailTransfer:
    """A transfer on a rail's list, or in a file. `amount_cents` are minor units of `currency`.

    `reference` is the rail's own id of it. The other ids were sent with it, None where the rail has none.
    `returned_cents` is the part that came back while the rest stayed. The repr hides `account`, so that no log contains
    it by accident.
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
    returned_cents: int = 0


def name_references(method: str, reference: str) -> dict[str, str]:
    """Return the references of a payout paid by a method, by their names in the API."""
    names = ("externalTransactionId",) if method == MANUAL else REFERENCES[Method(method)]
    return dict.fromkeys(names, reference)


def parse_key(key: str | None) -> tuple[UUID, int] | None:
    """Return the payout and the number of the attempt in a key; None for any other text."""
    parts = _KEY.fullmatch(key or "")
    return (UUID(parts[1]), int(parts[2])) if parts else None
