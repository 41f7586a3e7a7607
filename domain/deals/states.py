"""The states of deals and milestones, spelled as the database holds them and as the API shows them."""

from enum import StrEnum


class DealStatus(StrEnum):
    """Where a deal stands. Funded: its money is in escrow; Completed: none of it is any more."""

    Draft = "Draft"
    Offered = "Offered"
    Accepted = "Accepted"
    Funded = "Funded"
    Completed = "Completed"
    Declined = "Declined"
    Cancelled = "Cancelled"


class MilestoneStatus(StrEnum):
    """Where a milestone stands. Released: it was paid; Settled: an operator decided a dispute about it."""

    Pending = "Pending"
    Funded = "Funded"
    Submitted = "Submitted"
    Released = "Released"
    Disputed = "Disputed"
    Settled = "Settled"


class Side(StrEnum):
    """Who opened a dispute."""

    brand = "brand"
    affiliate = "affiliate"


class EscrowKind(StrEnum):
    """What the ledger calls a movement of escrow: in, kept by the platform, paid to the affiliate, given back."""

    escrow_in = "escrow_in"
    take = "take"
    escrow_out = "escrow_out"
    escrow_back = "escrow_back"
