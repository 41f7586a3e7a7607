"""Queues and dead letters, as operators see and move them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from domain import jobs
from domain.refused import Refused
from models.jobs import desk, processes
from models.jobs.desk import DeadFilters, JobRow
from models.webhooks import given_up


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """A queue: the live worker threads that take its jobs, how many jobs are in which state, how old the oldest due
    one is in seconds, how many were done within the last minute, and since when it is paused, and why.
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


def any_org_standing() -> list[QueueStanding]:
    """Return every queue by name, with those that no release of ours knows and that hold something.

    Budget: 4 statements.
    """
    counts = {row[0]: row[1:] for row in desk.any_org_counts()}
    live, done, paused = processes.live_threads(), processes.done_last_minute(), desk.paused()
    standing = []
    for queue in sorted({*jobs.QUEUES, *counts}):
        waiting, retrying, out, dead, oldest_s = counts.get(queue, (0, 0, 0, 0, 0))
        paused_at, paused_why = paused.get(queue, (None, None))
        standing.append(
            QueueStanding(
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
            )
        )
    return standing


def find_known(queue: str) -> str:
    """Return the name of a queue that there is, or refuse with 404 not_found."""
    if queue not in jobs.QUEUES:
        raise Refused(404, "not_found", "There is no such queue.")
    return queue


def any_org_find_dead(job_id: int) -> JobRow:
    """Return a dead letter. Raises Refused 404 not_found."""
    job = desk.any_org_find(job_id)
    if job is None or job.failed_at is None:
        raise _not_dead(job_id)
    return job


def any_org_moves_money(job_id: int) -> bool:
    """Say whether a job asks somebody to move money, or decides that it is moved; of one that is gone, no."""
    job = desk.any_org_find(job_id)
    return job is not None and job.queue == jobs.PAYOUT_TRANSFER.queue


def any_org_replay_one(job_id: int) -> JobRow:
    """Make a dead letter wait again and return it as it was. Raises Refused 404 not_found."""
    job = any_org_find_dead(job_id)
    if not desk.any_org_replay([job_id]):
        raise _not_dead(job_id)
    return job


def any_org_replay_all(filters: DeadFilters, *, confirmed: int) -> Sequence[int]:
    """Make all dead letters of a filter wait again and return their ids.

    Raises Refused 409 count_mismatch, with the `count` that there is, where there are not as many as were confirmed.
    """
    found = desk.any_org_lock_dead(filters)
    if len(found) != confirmed:
        message = f"There are {len(found)} dead letters now, not {confirmed}. Nothing was replayed: look, then confirm."
        raise Refused(409, "count_mismatch", message, count=len(found))
    return desk.any_org_replay(found)


def any_org_discard(job_id: int) -> JobRow:
    """Delete a dead letter for good and return it as it was; a delivery that waited for it has failed.

    Raises Refused 404 not_found.
    """
    job = any_org_find_dead(job_id)
    if not desk.any_org_discard(job_id):
        raise _not_dead(job_id)
    given_up.any_org_stage_by_job(name=job.name, organization_id=job.organization_id, args=job.args)
    return job


def kept_of(job: JobRow) -> dict[str, object]:
    """Return what the audit log keeps of a discarded dead letter.

    Not its error: a traceback may quote a customer's row, and the log is for ever.
    """
    return {
        "id": job.id,
        "name": job.name,
        "queue": job.queue,
        "arguments": dict(job.args),
        "attempts": job.attempt,
        "createdAt": job.created_at.isoformat(),
    }


def _not_dead(job_id: int) -> Refused:
    return Refused(404, "not_found", f"{job_id} is no dead letter. Next: flask jobs dead")
