"""Work on one milestone: submitted by its affiliate, sent back by the brand (approval is in `release`).

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
    milestone = milestones.find_by_seq(organization_id=deal.organization_id, deal_id=deal.id, seq=seq)
    if milestone is None:
        raise not_found("milestone", str(seq))
    return milestone


def check_step(milestone: Milestone, step: MilestoneStep) -> None:
    """Check that a milestone of a locked deal can take a step. Raises Refused 409 invalid_status_transition."""
    payout_id = releases.find_payout(organization_id=milestone.organization_id, milestone_id=milestone.id)
    steps.check_milestone(milestone.status, step, is_paying=payout_id is not None, changes=milestone.changes_requested)


def submit_milestone(deal: Deal, seq: int, *, urls: Sequence[str], now: datetime) -> None:
    """Submit a milestone of a locked deal, for its affiliate; it is released automatically after `steps.REVIEW_PERIOD`.

    Raises Refused: 404 not_found; 409 invalid_status_transition.
    """
    milestone = find(deal, seq)
    check_step(milestone, MilestoneStep.submit)
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
    """Send a submitted milestone of a locked deal back to its affiliate, at most `steps.MAX_CHANGES` times.

    Raises Refused: 404 not_found; 409 invalid_status_transition.
    """
    milestone = find(deal, seq)
    check_step(milestone, MilestoneStep.request_changes)
    milestones.change(
        milestone,
        {
            "status": MilestoneStatus.Funded,
            "auto_release_at": None,
            "changes_requested": milestone.changes_requested + 1,
            "change_note": note,
        },
    )
