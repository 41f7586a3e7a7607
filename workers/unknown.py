"""What runs in place of a kind of job that this release does not know: it is given back."""

import structlog

from domain.jobs import FORGET, Job
from models import db
from models.jobs import rows
from workers import actor
from workers.actor import Ran

_log = structlog.get_logger(__name__)

#: What runs in place of a kind of job that this release does not know; workers.broker turns to it.
UNKNOWN = "job.unknown"
# A worker of the newer release is about to come, or is there already and was not asked.
_ASK_AGAIN_AFTER_S, _ASK_AT_LEAST_EVERY_S = 3, 60


def register_unknown() -> None:
    """Register what gives a job of an unknown kind back: it waits for a worker that knows it, and uses no attempt."""

    def run(job_id: int, attempt: int, **_: object) -> Ran:
        with db.any_org_work():
            put_off = rows.any_org_put_off_unknown(
                job_id=job_id, attempt=attempt, first_s=_ASK_AGAIN_AFTER_S, longest_s=_ASK_AT_LEAST_EVERY_S
            )
        if put_off is None:
            return Ran()
        name, is_dead = put_off
        (_log.error if is_dead else _log.warning)("job.unknown", job=name, is_dead=is_dead)
        return Ran("given_up" if is_dead else "again")

    actor.register_run(Job(UNKNOWN, queue=FORGET.queue), run)
