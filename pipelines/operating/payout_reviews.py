"""Operators' decisions about payouts of any organization: runs to review, payouts whose rail gives no final answer."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts.states import ReviewStatus
from domain.refusals import not_found
from models.payouts import admin_queries, attempts, payouts
from models.payouts.admin_queries import AdminAttempt
from models.payouts.payouts import Payout
from pipelines.payouts import decisions


@dataclass(frozen=True, slots=True)
class ReviewedRun:
    """A reviewed run: its organization, the decision, and how many of its payouts it concerned."""

    organization_id: UUID
    run_id: UUID
    status: ReviewStatus
    payouts: int


@dataclass(frozen=True, slots=True)
class SettledPayout:
    """A settled payout: its organization, its status, and the key of its attempt at the rail."""

    organization_id: UUID
    payout_id: UUID
    status: str
    key: str | None


def any_org_review(*, run_id: UUID, is_approved: bool, now: datetime) -> ReviewedRun:
    """Approve the payouts of a run, or fail them. Raises Refused: 404 not_found, 409 invalid_status_transition."""
    organization_id = admin_queries.any_org_find_organization_of_run(run_id)
    if organization_id is None:
        raise not_found("run", run_id)
    reviewed = decisions.decide_review(organization_id=organization_id, run_id=run_id, is_approved=is_approved, now=now)
    status = ReviewStatus.Approved if is_approved else ReviewStatus.Rejected
    return ReviewedRun(organization_id, run_id, status, len(reviewed))


def any_org_find(payout_id: UUID) -> tuple[Payout, list[AdminAttempt]]:
    """Return a payout with its attempts, oldest first. Raises Refused 404 not_found."""
    organization_id = payouts.any_org_find_organization(payout_id)
    payout = organization_id and payouts.find(organization_id=organization_id, payout_id=payout_id)
    if not payout:
        raise not_found("payout", payout_id)
    return payout, admin_queries.list_attempts(organization_id=payout.organization_id, payout_id=payout_id)


def any_org_settle(*, payout_id: UUID, paid_as: str | None, failed_because: str | None, now: datetime) -> SettledPayout:
    """Settle a payout as `decisions.settle_by_hand` does.

    Raises Refused: 404 not_found, 409 invalid_status_transition.
    """
    organization_id = payouts.any_org_find_organization(payout_id)
    if organization_id is None:
        raise not_found("payout", payout_id)
    payout = decisions.lock(organization_id=organization_id, payout_id=payout_id)
    attempt = attempts.find_current(payout)
    status = decisions.settle_by_hand(payout, paid_as=paid_as, failed_because=failed_because, now=now)
    return SettledPayout(organization_id, payout_id, status, attempt.key if attempt else None)
