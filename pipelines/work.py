"""How work is asked for, and how work says that it cannot be done now, or ever.

`enqueue` stages the row in the caller's transaction: the work is asked for if and only if the change that asks
for it is committed. Nothing is said to the broker here; the relay finds the row. An event's deliveries and their jobs
are staged by one statement of their own (`models/webhooks/outbox.py`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from domain.jobs import Job
from models.jobs import rows


class TryAgain(Exception):
    """The job cannot finish now, through nobody's fault; it does not count as an attempt.

    `why` tells operators what it waits for.
    """

    def __init__(self, *, at: datetime, why: str | None = None) -> None:
        super().__init__(f"again at {at.isoformat()}")
        self.at = at
        self.why = why


class NotReadable(Exception):
    """This release cannot read what the job holds: one of another release may. It waits for that one for an hour."""


class GiveUp(Exception):
    """No further attempt can help: straight to the dead letters, with the reason."""


def enqueue(
    job: Job,
    *,
    organization_id: UUID | None,
    fair_key: str | None = None,
    run_at: datetime | None = None,
    **args: object,
) -> None:
    """Stage one row of work in the caller's transaction.

    `args` are ids and strings: what a job can read it reads when it runs. `fair_key` names whose turn
    it is (default: the organization); under pressure every key gets its share. `run_at` None means now.
    """
    rows.stage(
        job,
        organization_id=organization_id,
        args=_to_strings(args),
        fair_key=fair_key or str(organization_id or ""),
        run_at=run_at,
    )


def enqueue_with_id(job: Job, *, organization_id: UUID, **args: object) -> int:
    """Ask for one piece of work as `enqueue` does, and return its number. Budget: 1 round trip."""
    return rows.insert(job, organization_id=organization_id, args=_to_strings(args))


def enqueue_all(
    job: Job,
    *,
    organization_id: UUID,
    fair_key: str | None = None,
    run_at: datetime | None = None,
    args: Sequence[Mapping[str, object]],
) -> None:
    """Stage many rows of one kind of work of an organization as `enqueue` does one, in one statement."""
    rows.stage_all(
        job,
        organization_id=organization_id,
        args=[_to_strings(job_args) for job_args in args],
        fair_key=fair_key or str(organization_id),
        run_at=run_at,
    )


def _to_strings(args: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value) for key, value in args.items()}
