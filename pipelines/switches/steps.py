"""Stages the jobs of a switch. One switch has at most one job under way; the job finds its place in the database."""

from datetime import datetime
from uuid import UUID

from domain import jobs, thread_slots
from domain.jobs import Job
from pipelines import work


def stage_read(*, organization_id: UUID, switch_id: UUID, source: str, run_at: datetime | None = None) -> None:
    """Stage the next request to the source, at `run_at` at the earliest.

    Switches of one source share a limit of worker threads, so that a slow source leaves threads for others.
    """
    fair_key = thread_slots.fair_key(organization_id, source)
    work.enqueue(
        jobs.SWITCH_READ, organization_id=organization_id, fair_key=fair_key, run_at=run_at, switch_id=switch_id
    )


def stage_judge(*, organization_id: UUID, switch_id: UUID) -> None:
    """Stage the next slice of judging."""
    _stage(jobs.SWITCH_JUDGE, organization_id, switch_id)


def stage_write(*, organization_id: UUID, switch_id: UUID) -> None:
    """Stage the next slice of writing."""
    _stage(jobs.SWITCH_WRITE, organization_id, switch_id)


def stage_undo(*, organization_id: UUID, switch_id: UUID) -> None:
    """Stage the next slice of undoing."""
    _stage(jobs.SWITCH_UNDO, organization_id, switch_id)


def _stage(job: Job, organization_id: UUID, switch_id: UUID) -> None:
    work.enqueue(job, organization_id=organization_id, switch_id=switch_id)
