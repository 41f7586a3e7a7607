"""Records why an attempt of a job failed, and when it is tried again."""

import traceback

import structlog

import settings
from adapters import logs
from domain.jobs import Job
from models import db
from models.jobs import rows
from pipelines.work import GiveUp, NotReadable, TryAgain
from workers import dead_letters

_log = structlog.get_logger(__name__)

# A job that timed out on a lock is retried this soon, for as long as a frozen transaction may hold the lock. PostgreSQL
# stops waiting after ten seconds (models.db), so several of the first attempts may time out.
_RETRY_AFTER_LOCK_S = 2
_LOCK_TIMEOUT_S = 10

# A worker of the newer release will start soon, or runs already and did not get the job.
_FIRST_POSTPONE_S, _MAX_POSTPONE_S = 3, 60

# The end of a traceback is stored, which says most.
_ERROR_CHARACTERS = 8_000


def record_failure(job: Job, job_id: int, attempt: int, error: Exception) -> str:
    """Record why an attempt did not succeed, and return the name of the outcome."""
    if isinstance(error, TryAgain):
        with db.any_org_work():
            rows.stage_retry(job_id=job_id, attempt=attempt, at=error.at, why=error.why)
        return "again"
    if isinstance(error, NotReadable):
        return postpone(job_id, attempt, why=str(error))
    if isinstance(error, GiveUp):
        _fail(job_id, attempt, str(error), retry_in_s=None)
        return "given_up"
    _record_error(job, job_id, attempt, error)
    return "failed"


def postpone(job_id: int, attempt: int, *, why: str = "") -> str:
    """Postpone a job that this release does not know or cannot read, and return the name of the outcome.

    It uses no attempt. After an hour the job is a dead letter.
    """
    with db.any_org_work():
        job = rows.any_org_postpone_unknown(
            job_id=job_id, attempt=attempt, why=why, first_s=_FIRST_POSTPONE_S, max_s=_MAX_POSTPONE_S
        )
        if job is not None and job[1]:
            dead_letters.any_org_react([job_id])
    if job is None:
        return "done"
    name, is_dead = job
    (_log.error if is_dead else _log.warning)("job.unknown", job=name, is_dead=is_dead)
    return "given_up" if is_dead else "again"


def _record_error(job: Job, job_id: int, attempt: int, error: Exception) -> None:
    delay_s = job.delay_s(attempt)
    if db.is_timeout_or_deadlock(error) and attempt <= 1 + settings.current().jobs.lease_s // _LOCK_TIMEOUT_S:
        delay_s = min(delay_s, _RETRY_AFTER_LOCK_S)
    _fail(job_id, attempt, "".join(traceback.format_exception(error)), retry_in_s=delay_s)


def _fail(job_id: int, attempt: int, error: str, *, retry_in_s: int | None) -> None:
    storable = error[-_ERROR_CHARACTERS:].replace("\x00", "").encode("utf-8", "replace").decode()
    with db.any_org_work():
        is_dead = rows.any_org_record_failure(job_id=job_id, attempt=attempt, error=storable, retry_in_s=retry_in_s)
        if is_dead:
            dead_letters.any_org_react([job_id])
    if is_dead is not None:
        _log.error("job.failed", retry_in_s=None if is_dead else retry_in_s, is_dead=is_dead, error=_summary(error))


def _summary(error: str) -> str:
    lines = logs.strip_values(error).strip().splitlines()
    return lines[-1] if lines else ""
