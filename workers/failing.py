"""Writes down why an attempt of a job did not end well, and when it is tried again."""

import traceback

import structlog

import settings
from adapters import logs
from domain.jobs import Job
from models import db
from models.jobs import rows
from pipelines.work import GiveUp, NotReadable, TryAgain

_log = structlog.get_logger(__name__)

# As long as a frozen transaction may hold a lock, who waited for one in vain comes back this soon. PostgreSQL gives up
# waiting after ten seconds (models.db), so that many of the first attempts may meet it.
_AFTER_WAITING_S = 2
_WAITS_S = 10

# A worker of the newer release is about to come, or is there already and was not asked.
_ASK_AGAIN_AFTER_S, _ASK_AT_LEAST_EVERY_S = 3, 60

# A traceback says more at its end; this much is kept of it.
_ERROR_CHARACTERS = 8_000


def put_down(job: Job, job_id: int, attempt: int, error: Exception) -> str:
    """Write down why an attempt did not end well, and return what that is called."""
    if isinstance(error, TryAgain):
        with db.any_org_work():
            rows.stage_retry(job_id=job_id, attempt=attempt, at=error.at, why=error.why)
        return "again"
    if isinstance(error, NotReadable):
        return put_off(job_id, attempt, why=str(error))
    if isinstance(error, GiveUp):
        _fail(job_id, attempt, str(error), retry_in_s=None)
        return "given_up"
    _record_failure(job, job_id, attempt, error)
    return "failed"


def put_off(job_id: int, attempt: int, *, why: str = "") -> str:
    """Put a job back that this release does not know or cannot read, and return what that is called.

    It uses no attempt. After an hour it is a dead letter.
    """
    with db.any_org_work():
        job = rows.any_org_postpone_unknown(
            job_id=job_id, attempt=attempt, why=why, first_s=_ASK_AGAIN_AFTER_S, max_s=_ASK_AT_LEAST_EVERY_S
        )
    if job is None:
        return "done"
    name, is_dead = job
    (_log.error if is_dead else _log.warning)("job.unknown", job=name, is_dead=is_dead)
    return "given_up" if is_dead else "again"


def _record_failure(job: Job, job_id: int, attempt: int, error: Exception) -> None:
    delay_s = job.delay_s(attempt)
    if db.is_timeout_or_deadlock(error) and attempt <= 1 + settings.current().jobs.lease_s // _WAITS_S:
        delay_s = min(delay_s, _AFTER_WAITING_S)
    _fail(job_id, attempt, "".join(traceback.format_exception(error)), retry_in_s=delay_s)


def _fail(job_id: int, attempt: int, error: str, *, retry_in_s: int | None) -> None:
    storable = error[-_ERROR_CHARACTERS:].replace("\x00", "").encode("utf-8", "replace").decode()
    with db.any_org_work():
        is_dead = rows.any_org_record_failure(job_id=job_id, attempt=attempt, error=storable, retry_in_s=retry_in_s)
    if is_dead is not None:
        _log.error("job.failed", retry_in_s=None if is_dead else retry_in_s, is_dead=is_dead, error=_summary(error))


def _summary(error: str) -> str:
    lines = logs.without_values(error).strip().splitlines()
    return lines[-1] if lines else ""
