"""The states of payouts and of what belongs to them, spelled as the database holds them and as the API shows them.

A statement's text spells its states out, so that it reads as the database runs it; all other code takes them from
here. Source: core spec, "Payout", and section 3 (Payout).
"""

from enum import StrEnum


class PayoutStatus(StrEnum):
    """Where a payout stands. What is Processing may have been paid: only its rail knows."""

    Pending = "Pending"
    Processing = "Processing"
    Paid = "Paid"
    Failed = "Failed"


class ReviewStatus(StrEnum):
    """What the operator says of a run that they are to look at; a run without a review has none."""

    Pending = "Pending"
    Approved = "Approved"
    Rejected = "Rejected"


class AttemptState(StrEnum):
    """What a rail said of one attempt: nothing so far (it may have been asked), not clearly, taken, or for good."""

    intent = "intent"
    unknown = "unknown"
    accepted = "accepted"
    paid = "paid"
    rejected = "rejected"


class ProposalStatus(StrEnum):
    """What became of an automatic payout that was proposed. Empty: nothing was due."""

    Open = "Open"
    Confirmed = "Confirmed"
    Replaced = "Replaced"
    Dismissed = "Dismissed"
    Empty = "Empty"


class RailOutcome(StrEnum):
    """What a rail's own word came to. Parked: it is about nothing that we know."""

    Settled = "Settled"
    Noted = "Noted"
    Late = "Late"
    Parked = "Parked"
    Contradicts = "Contradicts"


class SandboxState(StrEnum):
    """Where a transfer stands in the sandbox's books. Lost: it came and was not carried out."""

    Accepted = "Accepted"
    Paid = "Paid"
    Rejected = "Rejected"
    Lost = "Lost"
