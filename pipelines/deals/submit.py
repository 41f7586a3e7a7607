"""The work on one milestone: submitted by its affiliate, then approved or sent back by the brand.

Source: tracking spec, section 6, milestone.submitted.
"""

from collections.abc import Sequence
from datetime import datetime

from domain.deals import events, steps
from domain.deals.states import MilestoneStatus
from domain.deals.steps import MilestoneStep
from domain.refusals import not_found
from models.deals import milestones, releases
from models.deals.deals import Deal
from models.deals.milestones import Milestone
from pipelines.webhooks import emit


def find(deal: Deal, seq: int) -> Milestone:
    """Return a milestone of a locked deal by its number, or refuse with 404 not_found."""
    found = milestones.by_seq(organization_id=deal.organization_id, deal_id=deal.id, seq=seq)
    if found is None:
        raise not_found("milestone", str(seq))
    return found


def check(milestone: Milestone, step: MilestoneStep) -> None:
    """Let a milestone of a locked deal take a step, or raise Refused 409 invalid_status_transition."""
    paying = releases.payout_of(organization_id=milestone.organization_id, milestone_id=milestone.id)
    steps.check_milestone(milestone.status, step, is_paying=paying is not None, changes=milestone.changes_requested)


def hand_in(deal: Deal, seq: int, *, urls: Sequence[str], now: datetime) -> None:
    """Hand in a milestone of a locked deal, for its affiliate: it is released by itself after `steps.REVIEW`.

    Raises Refused: 404 not_found; 409 invalid_status_transition.
    """
    milestone = find(deal, seq)
    check(milestone, MilestoneStep.submit)
    auto_release_at = now + steps.REVIEW_PERIOD
    milestones.change(
        milestone,
        {
            "status": MilestoneStatus.Submitted,
            "submission_urls": tuple(urls),
            "auto_release_at": auto_release_at,
        },
    )
    emit.event(
        organization_id=deal.organization_id,
        type="milestone.submitted",
        data=events.serialize_submitted(
            deal_id=deal.id, milestone_id=milestone.id, seq=seq, urls=urls, auto_release_at=auto_release_at
        ),
        at=now,
    )


def request_changes(deal: Deal, seq: int, *, note: str) -> None:
    """Send what was submitted of a locked deal back to its affiliate, `steps.MOST_CHANGES` times at most.

    Raises Refused: 404 not_found; 409 invalid_status_transition.
    """
    milestone = find(deal, seq)
    check(milestone, MilestoneStep.request_changes)
    milestones.change(
        milestone,
        {
            "status": MilestoneStatus.Funded,
            "auto_release_at": None,
            "changes_requested": milestone.changes_requested + 1,
            "change_note": note,
        },
    )
