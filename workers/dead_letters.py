"""Reactions to jobs whose attempts are used up: something waits for them, and people must see that it stopped."""

from collections.abc import Callable, Mapping, Sequence

import structlog

from adapters import clock
from domain import jobs
from models import db
from models.jobs import failed_jobs
from pipelines.switches import pausing

_log = structlog.get_logger(__name__)

_REACTIONS: Mapping[str, Callable[..., None]] = {
    job.name: pausing.pause_after_failed_job
    for job in (jobs.SWITCH_READ, jobs.SWITCH_JUDGE, jobs.SWITCH_WRITE, jobs.SWITCH_UNDO)
}


def any_org_react(job_ids: Sequence[int]) -> None:
    """React to jobs that became dead letters in this transaction.

    An error is logged and undone: it must not keep the job from being a dead letter.
    """
    for job in failed_jobs.any_org_list(job_ids, names=list(_REACTIONS)):
        try:
            with db.savepoint():
                _REACTIONS[job.name](job=job.name, organization_id=job.organization_id, args=job.args, now=clock.now())
        except Exception:
            _log.exception("job.reaction_failed", job=job.name, job_id=job.id)
