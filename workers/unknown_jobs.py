"""The actor for kinds of jobs that this release does not know: it puts them back."""

from domain.jobs import FORGET, Job
from workers import actor, failures
from workers.actor import RunResult

#: The actor that runs for every kind of job that this release does not know.
UNKNOWN_JOB = "job.unknown"


def register_unknown_job() -> None:
    """Register the actor that postpones a job of an unknown kind until a worker knows it; no attempt is used."""

    def run(job_id: int, attempt: int, **_: object) -> RunResult:
        return RunResult(failures.postpone(job_id, attempt))

    actor.register_run(Job(UNKNOWN_JOB, queue=FORGET.queue), run)
