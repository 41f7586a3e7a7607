"""Operators' view of queues and dead letters, and the replay of dead letters."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from domain import jobs
from domain.refusals import Refused
from models.jobs import admin_queries, processes
from models.jobs.admin_queries import DeadFilters, JobRow


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """A queue: its live worker threads, how many jobs are in which state, the age of the oldest due job in seconds, how
    many were done within the last minute, and since when and why it is paused.

    `held_up` is how many of its jobs wait for an outside server or a setting; `waits_for` is why the next of them
    waits, and `waits_until` until when.
    """

    queue: str
    threads: int
    waiting: int
    retrying: int
    out: int
    dead: int
    oldest_s: int
    done_last_minute: int
    paused_at: datetime | None
    paused_why: str | None
    held_up: int
    waits_for: str | None
    waits_until: datetime | None


def any_org_list() -> list[QueueStatus]:
    """Return every queue by name, including unknown ones that have jobs.

    Budget: 4 statements.
    """
    counts = {row[0]: row[1:] for row in admin_queries.any_org_count_by_queue()}
    live, done, paused = (
        processes.count_live_threads(),
        processes.count_done_last_minute(),
        admin_queries.list_paused_queues(),
    )
    statuses = []
    for queue in sorted({*jobs.QUEUES, *counts}):
        waiting, retrying, out, dead, oldest_s, waits_for, waits_until, held_up = counts.get(
            queue, (0, 0, 0, 0, 0, None, None, 0)
        )
        paused_at, paused_why = paused.get(queue, (None, None))
        statuses.append(
            QueueStatus(
                queue=queue,
                threads=live.get(queue, 0),
                waiting=waiting,
                retrying=retrying,
                out=out,
                dead=dead,
                oldest_s=oldest_s,
                done_last_minute=done.get(queue, 0),
                paused_at=paused_at,
                paused_why=paused_why,
                held_up=held_up,
                waits_for=waits_for,
                waits_until=waits_until,
            )
        )
    return statuses


def check_queue(queue: str) -> str:
    """Return the name of an existing queue. Raises Refused 404 not_found."""
    if queue not in jobs.QUEUES:
        raise Refused(404, "not_found", "There is no such queue.")
    return queue


def any_org_find_dead(job_id: int) -> JobRow:
    """Return a dead letter. Raises Refused 404 not_found."""
    job = admin_queries.any_org_find(job_id)
    if job is None or job.failed_at is None:
        raise not_dead_refusal(job_id)
    return job


def any_org_moves_money(job_id: int) -> bool:
    """Return whether a job moves money or decides about it; False for a job that no longer exists."""
    job = admin_queries.any_org_find(job_id)
    return job is not None and job.queue == jobs.PAYOUT_TRANSFER.queue


def any_org_replay_one(job_id: int) -> JobRow:
    """Queue a dead letter again and return it as it was. Raises Refused 404 not_found."""
    job = any_org_find_dead(job_id)
    if not admin_queries.any_org_replay([job_id]):
        raise not_dead_refusal(job_id)
    return job


def any_org_replay_all(filters: DeadFilters, *, confirmed: int) -> Sequence[int]:
    """Queue all dead letters of a filter again and return their ids.

    Raises Refused 409 count_mismatch, with the actual `count`, if it differs from the confirmed number.
    """
    job_ids = admin_queries.any_org_lock_dead_ids(filters)
    check_count(len(job_ids), confirmed, verb="replayed")
    return admin_queries.any_org_replay(job_ids)


def check_count(count: int, confirmed: int, *, verb: str) -> None:
    """Raise Refused 409 count_mismatch, with the actual `count`, if it differs from the confirmed number."""
    if count != confirmed:
        message = f"There are {count} dead letters now, not {confirmed}. Nothing was {verb}: look, then confirm."
        raise Refused(409, "count_mismatch", message, count=count)


def not_dead_refusal(job_id: int) -> Refused:
    """Return the refusal for a job that is not a dead letter."""
    return Refused(404, "not_found", f"{job_id} is not a dead letter. Next: flask jobs dead")
