"""Which step a deal or a milestone can take now. What is out of turn is refused, and nothing is written.

A deal goes Draft, Offered, Accepted, Funded, Completed, or ends before its money came in (Declined, Cancelled). A
milestone goes Pending, Funded, Submitted, Released; a dispute takes it out of the way until an operator settles it.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

from domain.deals.states import DealStatus, MilestoneStatus
from domain.refused import Refused

#: How long a brand may look at what was submitted before it is released by itself.
REVIEW = timedelta(days=7)
#: How often a brand may send a milestone back.
MOST_CHANGES = 2


class DealStep(StrEnum):
    """What is done to a whole deal."""

    offer = "offer"
    cancel = "cancel"
    accept = "accept"
    decline = "decline"
    fund = "fund"


class MilestoneStep(StrEnum):
    """What is done to one milestone."""

    submit = "submit"
    approve = "approve"
    request_changes = "request changes to"
    dispute = "dispute"
    settle = "settle"


_DEAL: Mapping[DealStep, tuple[DealStatus, ...]] = {
    DealStep.offer: (DealStatus.Draft,),
    DealStep.cancel: (DealStatus.Draft, DealStatus.Offered, DealStatus.Accepted),
    DealStep.accept: (DealStatus.Offered,),
    DealStep.decline: (DealStatus.Offered,),
    DealStep.fund: (DealStatus.Accepted,),
}
_MILESTONE: Mapping[MilestoneStep, tuple[MilestoneStatus, ...]] = {
    MilestoneStep.submit: (MilestoneStatus.Funded,),
    MilestoneStep.approve: (MilestoneStatus.Submitted,),
    MilestoneStep.request_changes: (MilestoneStatus.Submitted,),
    # Also before anything was submitted, so that the money of work that never came can go back.
    MilestoneStep.dispute: (MilestoneStatus.Funded, MilestoneStatus.Submitted),
    MilestoneStep.settle: (MilestoneStatus.Disputed,),
}


def check_deal(status: str, step: DealStep, *, is_charging: bool) -> None:
    """Let a deal take a step, or raise Refused 409 invalid_status_transition.

    `is_charging`: its charge was asked for and was not refused, so the money may have moved.
    """
    if status not in _DEAL[step]:
        raise out_of_turn(f"The deal is {status}; to {step} it, it has to be {_either(_DEAL[step])}.")
    if is_charging:
        raise out_of_turn("The deal is being funded; look at it again once that has succeeded or failed.")


def check_milestone(status: str, step: MilestoneStep, *, is_paying: bool, changes: int = 0) -> None:
    """Let a milestone take a step, or raise Refused 409 invalid_status_transition.

    `is_paying`: a payout of it was made and not let go of. `changes` were requested so far.
    """
    if status not in _MILESTONE[step]:
        message = f"The milestone is {status}; to {step} it, it has to be {_either(_MILESTONE[step])}."
        raise out_of_turn(message)
    if is_paying:
        raise out_of_turn("The milestone was approved, and its payout is on its way.")
    if step == MilestoneStep.request_changes and changes >= MOST_CHANGES:
        raise out_of_turn(f"Changes were requested {MOST_CHANGES} times; approve the milestone, or open a dispute.")


def out_of_turn(message: str) -> Refused:
    """Return the refusal of a step that cannot be taken now."""
    return Refused(409, "invalid_status_transition", message)


def _either(statuses: tuple[str, ...]) -> str:
    return " or ".join(statuses)
