"""What runs in place of a kind of job that this release does not know: it is given back."""

from domain.jobs import FORGET, Job
from workers import actor, failing
from workers.actor import Ran

#: What runs in place of a kind of job that this release does not know; workers.broker turns to it.
UNKNOWN = "job.unknown"


def register_unknown() -> None:
    """Register what gives a job of an unknown kind back: it waits for a worker that knows it, and uses no attempt."""

    def run(job_id: int, attempt: int, **_: object) -> Ran:
        return Ran(failing.put_off(job_id, attempt))

    actor.register_run(Job(UNKNOWN, queue=FORGET.queue), run)
