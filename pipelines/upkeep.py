"""Periodic cleanup of short-lived data."""

from datetime import datetime, timedelta

from domain import jobs
from models import mail, stored_answers
from models.clicks import retention
from models.jobs import processes, ticks
from models.platforms import lookups
from models.programs import daily_totals
from pipelines import owed_days, work

#: How many days the visitor and network hashes of clicks are kept.
CLICK_HASHES_DAYS = 90
_BATCH = 5_000


def delete_expired() -> None:
    """Delete expired stored answers, bodies of old mail, old ticks, silent worker processes and abandoned look-ups.

    Idempotent. Works in batches: a full one stages the next.
    """
    answers = stored_answers.any_org_delete_old(limit=_BATCH)
    bodies = mail.any_org_delete_old_bodies(limit=_BATCH)
    ticks.stage_delete_old()
    processes.stage_delete_silent()
    lookups.any_org_stage_forget()
    if _BATCH in (answers, bodies):
        work.enqueue(jobs.FORGET, organization_id=None)


def delete_click_hashes(*, now: datetime) -> None:
    """Delete visitor hashes of old clicks and of dead letters of clicks, in batches (a full one stages the next)."""
    before = now - timedelta(days=CLICK_HASHES_DAYS)
    jobs_with_hashes = (jobs.CLICK_UNREADABLE, jobs.CLICK_LATE)
    retention.any_org_stage_forget_letters(
        names=[job.name for job in jobs_with_hashes], queue=jobs_with_hashes[0].queue, before=before
    )
    if retention.any_org_forget_hashes(before=before, limit=_BATCH) == _BATCH:
        work.enqueue(jobs.CLICKS_FORGET, organization_id=None)


def any_org_fold_days(*, now: datetime) -> None:
    """Fold changes into the stored daily totals of programs and affiliates, in batches (a full one stages the next).

    The last batch starts the computation of what these days owe, and of the totals of affiliates.
    """
    if daily_totals.any_org_fold(limit=_BATCH) == _BATCH:
        work.enqueue(jobs.DAYS_FOLD, organization_id=None)
    else:
        owed_days.any_org_start(folded_until=now)
