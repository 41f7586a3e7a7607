"""Runs one job row: lock it, do the work, delete it, all in one transaction; or record why not.

A message is only a pointer (job id, attempt). A pointer whose row is gone, or has moved on to another attempt, is
dropped: the work is done, or is somebody else's by now. So a message may come late, twice or never.
"""

import time
import traceback
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

import dramatiq
import structlog

import settings
from adapters import logs
from domain.jobs import FORGET, Job
from models import db
from models.jobs import rows
from pipelines.work import GiveUp, TryAgain
from workers import metrics, pace, process

_log = structlog.get_logger(__name__)

# As long as a frozen transaction may hold a lock, who waited for one in vain comes back this soon. PostgreSQL gives up
# waiting after ten seconds (models.db), so that many of the first attempts may meet it.
_AFTER_WAITING_S = 2
_WAITS_S = 10

# Its lease is how long a job's transaction may say nothing: then others may have the row and what it locked.
_SILENCE_BEYOND_LEASE_S = 1

Work = Callable[[rows.Claimed], None]
Prepared = TypeVar("Prepared")
Answer = TypeVar("Answer")

# A traceback says more at its end; this much is kept of it.
_ERROR_CHARACTERS = 8_000


def silence_s(lease_s: int) -> int:
    """Return how long a transaction of a job with this lease may say nothing before it counts as frozen, in seconds."""
    return lease_s + _SILENCE_BEYOND_LEASE_S


def database_job(job: Job) -> Callable[[Work], Work]:
    """Register `work` as what runs `job`, wholly inside one transaction of the job's organization."""
    may_be_silent_s = None if job.lease_s is None else silence_s(job.lease_s)

    def register(work: Work) -> Work:
        def run(job_id: int, attempt: int, **_: object) -> None:
            with db.any_org_work():
                claimed = rows.lock(job_id=job_id, attempt=attempt, silence_s=may_be_silent_s)
                if claimed is None:
                    return
                work(claimed)
                rows.stage_done(job_id=job_id, attempt=attempt)

        _register(job, run)
        return work

    return register


def calling_job(
    job: Job,
    *,
    prepare: Callable[[rows.Claimed], Prepared | None],
    call: Callable[[Prepared], Answer],
    record: Callable[[Prepared, Answer], datetime | None],
) -> None:
    """Register a job that calls somebody else's server, never inside a transaction.

    `prepare` (in a transaction) writes down the intent and returns what to send, or None when nothing is left to do.
    `call` talks to the outside. `record` (in a transaction) writes down the answer and returns when to try again,
    or None when the job is done. A process that dies in between leaves the row to be handed out again, once it has been
    silent for a while; a job that `keeps_lease` at the end of its lease.
    """

    def run(job_id: int, attempt: int, **_: object) -> None:
        with db.any_org_work():
            claimed = rows.lock(job_id=job_id, attempt=attempt)
            if claimed is None:
                return
            prepared = prepare(claimed)
            if prepared is None:
                rows.stage_done(job_id=job_id, attempt=attempt)
            else:
                rows.stage_begun(job_id=job_id, attempt=attempt, process_id=process.own_id())
        if prepared is None:
            return
        answer = call(prepared)
        is_of_one = claimed.organization_id is not None
        with db.unit_of_work(claimed.tenant) if is_of_one else db.any_org_work():
            again_at = record(prepared, answer)
            if again_at is None:
                rows.stage_done(job_id=job_id, attempt=attempt)
            else:
                rows.stage_again(job_id=job_id, attempt=attempt, at=again_at)

    _register(job, run)


#: What runs in place of a kind of job that this release does not know; workers.broker turns to it.
UNKNOWN = "job.unknown"
# A worker of the newer release is about to come, or is there already and was not asked.
_ASK_AGAIN_AFTER_S, _ASK_AT_LEAST_EVERY_S = 3, 60


def register_unknown() -> None:
    """Register what gives a job of an unknown kind back: it waits for a worker that knows it, and uses no attempt."""

    def run(job_id: int, attempt: int, **_: object) -> str:
        with db.any_org_work():
            put_off = rows.any_org_put_off_unknown(
                job_id=job_id, attempt=attempt, first_s=_ASK_AGAIN_AFTER_S, longest_s=_ASK_AT_LEAST_EVERY_S
            )
        if put_off is None:
            return "done"
        name, is_dead = put_off
        (_log.error if is_dead else _log.warning)("job.unknown", job=name, is_dead=is_dead)
        return "given_up" if is_dead else "again"

    _register(Job(UNKNOWN, queue=FORGET.queue), run)


def _register(job: Job, run: Callable[..., str | None]) -> None:
    def guarded(job_id: int, attempt: int, **more: object) -> None:
        started = time.monotonic()
        with structlog.contextvars.bound_contextvars(job_id=job_id, job=job.name, attempt=attempt):
            outcome = _outcome(job, run, job_id, attempt, more)
        metrics.count_job(job.name, outcome, time.monotonic() - started)
        if outcome == "done":
            pace.done.count(job.queue)

    dramatiq.actor(actor_name=job.name, queue_name=job.queue)(guarded)


def _outcome(job: Job, run: Callable[..., str | None], job_id: int, attempt: int, more: dict[str, object]) -> str:
    try:
        return _recorded(job, run, job_id, attempt, more)
    except db.UNAVAILABLE as error:
        # Not even the failure can be written down; the lease runs out and the row is handed out again.
        _log.warning("job.database_unavailable", error=str(error).strip())
        return "database_unavailable"


def _recorded(job: Job, run: Callable[..., str | None], job_id: int, attempt: int, more: dict[str, object]) -> str:
    try:
        return run(job_id, attempt, **more) or "done"
    except TryAgain as again:
        with db.any_org_work():
            rows.stage_again(job_id=job_id, attempt=attempt, at=again.at)
        return "again"
    except GiveUp as reason:
        _fail(job_id, attempt, str(reason), retry_in_s=None)
        return "given_up"
    except Exception as error:  # a deadlock, a statement that takes too long and a lost connection too
        _record_failure(job, job_id, attempt, error)
        return "failed"


def _record_failure(job: Job, job_id: int, attempt: int, error: Exception) -> None:
    delay_s = job.delay_s(attempt)
    if db.is_held_up(error) and attempt <= 1 + settings.current().jobs.lease_s // _WAITS_S:
        delay_s = min(delay_s, _AFTER_WAITING_S)
    _fail(job_id, attempt, "".join(traceback.format_exception(error)), retry_in_s=delay_s)


def _fail(job_id: int, attempt: int, error: str, *, retry_in_s: int | None) -> None:
    storable = error[-_ERROR_CHARACTERS:].replace("\x00", "").encode("utf-8", "replace").decode()
    with db.any_org_work():
        is_dead = rows.any_org_fail(job_id=job_id, attempt=attempt, error=storable, retry_in_s=retry_in_s)
    if is_dead is not None:
        _log.error("job.failed", retry_in_s=None if is_dead else retry_in_s, is_dead=is_dead, error=_summary(error))


def _summary(error: str) -> str:
    lines = logs.without_values(error).strip().splitlines()
    return lines[-1] if lines else ""
