"""The `tracking` queue: leads and clicks of visitors."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from adapters import clock
from domain import jobs
from domain.fraud import Verdict
from models.jobs.rows import ClaimedJob
from pipelines.clicks import scores, unwritten_clicks
from pipelines.leads import page_leads
from pipelines.leads.page_leads import PageLead
from workers.actor import database_job, register_calling_job

_SCORER_RETRY_AFTER = timedelta(seconds=60)
_SCORER_UNREACHABLE = "the fraud scorer (FRAUD_SCORER_URL) does not answer"


@database_job(jobs.LEAD_CAPTURE)
def capture_lead(job: ClaimedJob) -> None:
    """Find the organization of a lead that a page sent, and enqueue the job that records it."""
    page_leads.any_org_enqueue_record(sealed=job.args["sealed"], at=job.args["at"])


@database_job(jobs.LEAD_RECORD)
def record_lead(job: ClaimedJob) -> None:
    """Record a lead that a page sent."""
    lead = PageLead(
        program_id=UUID(job.args["program_id"]),
        affiliate_id=UUID(job.args["affiliate_id"]),
        sealed=job.args["sealed"],
        at=datetime.fromisoformat(job.args["at"]),
        window_days=int(job.args["window_days"]),
    )
    page_leads.record(lead, organization_id=job.tenant, now=clock.now())


@database_job(jobs.CLICK_LATE)
def write_late_click(job: ClaimedJob) -> None:
    """Write a click that its web process could write neither to the stream nor to the database."""
    unwritten_clicks.write_late(job.args, now=clock.now())


@database_job(jobs.CLICK_UNREADABLE)
def write_replayed_click(job: ClaimedJob) -> None:
    """Write an unreadable entry of the click stream that an operator replays."""
    unwritten_clicks.replay(job.args, now=clock.now())


def _record_scores(clicks: scores.WaitingClicks, verdicts: Mapping[str, Verdict] | None) -> datetime | None:
    if verdicts is None:
        return clock.now() + _SCORER_RETRY_AFTER
    scores.settle(organization_id=clicks.organization_id, verdicts=verdicts, now=clock.now())
    return None


register_calling_job(
    jobs.CLICKS_RESCORE,
    prepare=lambda job: scores.find_waiting(organization_id=job.tenant, clicks_json=job.args["clicks"]),
    call=scores.score,
    record=_record_scores,
    why=lambda clicks, verdicts: _SCORER_UNREACHABLE,
)
