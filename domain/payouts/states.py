"""The states of payouts and their parts, spelled as in the database and the API.

SQL statements spell the states out, so that they read as the database runs them; all other code uses these. Source:
core spec, "Payout", and section 3 (Payout).
"""

from enum import StrEnum


class PayoutStatus(StrEnum):
    """The state of a payout. A Processing one may have been paid: only its rail knows."""

    Pending = "Pending"
    Processing = "Processing"
    Paid = "Paid"
    Failed = "Failed"


class ReviewStatus(StrEnum):
    """The operator's review of a run; a run without a review has none."""

    Pending = "Pending"
    Approved = "Approved"
    Rejected = "Rejected"


class AttemptState(StrEnum):
    """A rail's answer to one attempt: none so far (it may have been called), unclear, accepted, or final."""

    intent = "intent"
    unknown = "unknown"
    accepted = "accepted"
    paid = "paid"
    rejected = "rejected"


class ProposalStatus(StrEnum):
    """The state of a proposed automatic payout. Empty: nothing was due."""

    Open = "Open"
    Confirmed = "Confirmed"
    Replaced = "Replaced"
    Dismissed = "Dismissed"
    Empty = "Empty"


class RailOutcome(StrEnum):
    """The effect of a rail's notification. Parked: it concerns no known payout."""

    Settled = "Settled"
    Noted = "Noted"
    Late = "Late"
    Parked = "Parked"
    Contradicts = "Contradicts"


class SandboxState(StrEnum):
    """The state of a transfer in the sandbox. Lost: it arrived and was not executed."""

    Accepted = "Accepted"
    Paid = "Paid"
    Rejected = "Rejected"
    Lost = "Lost"
