"""The steps that a deal or a milestone can take in its state. An invalid transition is refused before any write.

A deal goes Draft, Offered, Accepted, Funded, Completed, or ends before it is funded (Declined, Cancelled). A milestone
goes Pending, Funded, Submitted, Released; a dispute interrupts this until an operator settles it.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

from domain.deals.states import DealStatus, MilestoneStatus
from domain.refusals import Refused

#: The time that a brand has to review a submission before it is released automatically.
REVIEW_PERIOD = timedelta(days=7)
#: How often a brand may request changes to a milestone.
MAX_CHANGES = 2


class DealStep(StrEnum):
    """A step of a whole deal."""

    offer = "offer"
    cancel = "cancel"
    accept = "accept"
    decline = "decline"
    fund = "fund"


class MilestoneStep(StrEnum):
    """A step of one milestone."""

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
    # Also before a submission, so that the money for work that was never delivered can go back.
    MilestoneStep.dispute: (MilestoneStatus.Funded, MilestoneStatus.Submitted),
    MilestoneStep.settle: (MilestoneStatus.Disputed,),
}


def check_deal(status: str, step: DealStep, *, is_charging: bool) -> None:
    """Raise Refused 409 invalid_status_transition unless a deal can take a step.

    `is_charging`: its charge was requested and not refused, so the money may have moved.
    """
    if status not in _DEAL[step]:
        raise invalid_transition(f"The deal is {status}; to {step} it, it has to be {_join_or(_DEAL[step])}.")
    if is_charging:
        raise invalid_transition("The deal is being funded. Try again once that has succeeded or failed.")


def check_milestone(status: str, step: MilestoneStep, *, is_paying: bool, changes: int = 0) -> None:
    """Raise Refused 409 invalid_status_transition unless a milestone can take a step.

    `is_paying`: it has a payout that was not released. `changes` is how often changes were requested so far.
    """
    if status not in _MILESTONE[step]:
        message = f"The milestone is {status}; to {step} it, it has to be {_join_or(_MILESTONE[step])}."
        raise invalid_transition(message)
    if is_paying:
        raise invalid_transition("The milestone was approved, and its payout is on its way.")
    if step == MilestoneStep.request_changes and changes >= MAX_CHANGES:
        raise invalid_transition(
            f"Changes were requested {MAX_CHANGES} times; approve the milestone, or open a dispute."
        )


def invalid_transition(message: str) -> Refused:
    """Return the refusal of an invalid transition."""
    return Refused(409, "invalid_status_transition", message)


def _join_or(statuses: tuple[str, ...]) -> str:
    return " or ".join(statuses)
