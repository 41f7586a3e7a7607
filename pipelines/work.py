"""Stages jobs, and defines the exceptions by which a job is postponed or given up.

`enqueue` stages the job's row in the caller's transaction: the job exists if and only if the change that needs it is
committed. Nothing is sent to the broker; the relay finds the row. An event's deliveries and their jobs are staged by
one statement of their own (`models/webhooks/outbox.py`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from domain.jobs import Job
from models.jobs import rows


class TryAgain(Exception):
    """The job has to wait for something that is not its failure; this does not count as an attempt.

    `why` is shown to operators: what the job waits for.
    """

    def __init__(self, *, at: datetime, why: str | None = None) -> None:
        super().__init__(f"again at {at.isoformat()}")
        self.at = at
        self.why = why


class NotReadable(Exception):
    """This release cannot read the job's arguments; a worker of another release may. The job waits an hour for it."""


class GiveUp(Exception):
    """No further attempt can succeed: the job becomes a dead letter at once, with the reason."""


def enqueue(
    job: Job,
    *,
    organization_id: UUID | None,
    fair_key: str | None = None,
    run_at: datetime | None = None,
    **args: object,
) -> None:
    """Stage one job in the caller's transaction.

    `args` are ids and strings: a job reads its data when it runs. Under load every `fair_key` (default: the
    organization) gets its share of the workers. `run_at` None means now.
    """
    rows.stage(
        job,
        organization_id=organization_id,
        args=_to_strings(args),
        fair_key=fair_key or str(organization_id or ""),
        run_at=run_at,
    )


def enqueue_with_id(job: Job, *, organization_id: UUID, **args: object) -> int:
    """Insert one job as `enqueue` does, and return its id. Budget: 1 round trip."""
    return rows.insert(job, organization_id=organization_id, args=_to_strings(args))


def enqueue_all(
    job: Job,
    *,
    organization_id: UUID,
    fair_key: str | None = None,
    run_at: datetime | None = None,
    args: Sequence[Mapping[str, object]],
) -> None:
    """Stage many jobs of one kind and organization as `enqueue` does, in one statement."""
    rows.stage_all(
        job,
        organization_id=organization_id,
        args=[_to_strings(job_args) for job_args in args],
        fair_key=fair_key or str(organization_id),
        run_at=run_at,
    )


def _to_strings(args: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value) for key, value in args.items()}
