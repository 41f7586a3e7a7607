"""The `tracking` queue: what visitors of the brands' pages did."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from adapters import clock
from domain import jobs
from domain.fraud import Verdict
from models.jobs.rows import ClaimedJob
from pipelines.clicks import letters, scores
from pipelines.leads import captured
from pipelines.leads.captured import CapturedLead
from workers.actor import calling_job, database_job

_SCORER_AGAIN_AFTER = timedelta(seconds=60)
_SCORER_AWAY = "the fraud scorer (FRAUD_SCORER_URL) does not answer"


@database_job(jobs.LEAD_CAPTURE)
def capture_lead(job: ClaimedJob) -> None:
    """Find the tenant of a lead that a page sent."""
    captured.any_org_forward(sealed=job.args["sealed"], at=job.args["at"])


@database_job(jobs.LEAD_RECORD)
def record_lead(job: ClaimedJob) -> None:
    """Record a lead that a page sent."""
    window_days = job.args.get("window_days")  # a job of an earlier release has none
    lead = CapturedLead(
        program_id=UUID(job.args["program_id"]),
        affiliate_id=UUID(job.args["affiliate_id"]),
        sealed=job.args["sealed"],
        at=datetime.fromisoformat(job.args["at"]),
        window_days=int(window_days) if window_days is not None else None,
    )
    captured.record(lead, organization_id=job.tenant, now=clock.now())


@database_job(jobs.CLICK_LATE)
def write_late_click(job: ClaimedJob) -> None:
    """Write a click for which there was neither the stream nor a turn."""
    letters.write_late(job.args, now=clock.now())


@database_job(jobs.CLICK_UNREADABLE)
def read_click_again(job: ClaimedJob) -> None:
    """Write a click that could not be written before; played again by an operator."""
    letters.write_again(job.args, now=clock.now())


def _waiting(job: ClaimedJob) -> scores.WaitingClicks | None:
    return scores.waiting(organization_id=job.tenant, asked=job.args["clicks"])


def _settle(those: scores.WaitingClicks, said: Mapping[str, Verdict] | None) -> datetime | None:
    if said is None:
        return clock.now() + _SCORER_AGAIN_AFTER
    scores.settle(organization_id=those.organization_id, said=said, now=clock.now())
    return None


calling_job(
    jobs.CLICKS_RESCORE, prepare=_waiting, call=scores.ask, record=_settle, why=lambda those, said: _SCORER_AWAY
)
