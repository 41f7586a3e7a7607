"""The states of deals and milestones, spelled as in the database and the API."""

from enum import StrEnum


class DealStatus(StrEnum):
    """The state of a deal. Funded: its money is in escrow; Completed: no money is left in escrow."""

    Draft = "Draft"
    Offered = "Offered"
    Accepted = "Accepted"
    Funded = "Funded"
    Completed = "Completed"
    Declined = "Declined"
    Cancelled = "Cancelled"


class MilestoneStatus(StrEnum):
    """The state of a milestone. Released: it was paid; Settled: an operator decided its dispute."""

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
    """The ledger's name of an escrow movement: in, the platform's take, paid to the affiliate, back to the brand."""

    escrow_in = "escrow_in"
    take = "take"
    escrow_out = "escrow_out"
    escrow_back = "escrow_back"
