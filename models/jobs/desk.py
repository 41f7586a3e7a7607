"""The job table as an operator sees it: how much waits where, dead letters, paused queues."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.jobs import WEBHOOK_DELIVER
from models.db import db
from models.jobs.rows import REPLAY


def any_org_counts() -> list[tuple[Any, ...]]:
    """Return per queue: queue, waiting, retrying, out, dead, age of the oldest due row in seconds."""
    return db.run(
        "select queue,"
        " count(*) filter (where failed_at is null and deadline is null and attempt = 0),"
        " count(*) filter (where failed_at is null and deadline is null and attempt > 0),"
        " count(*) filter (where failed_at is null and deadline is not null),"
        " count(*) filter (where failed_at is not null),"
        " coalesce(extract(epoch from"
        "  now() - min(run_at) filter (where failed_at is null and run_at <= now())), 0)::bigint"
        " from job group by queue"
    )


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as an operator sees it. `asked_by` is the request or the job in whose transaction it was asked for."""

    id: int
    organization_id: UUID | None
    queue: str
    name: str
    args: Mapping[str, str]
    attempt: int
    max_attempts: int
    run_at: datetime
    deadline: datetime | None
    failed_at: datetime | None
    last_error: str | None
    created_at: datetime
    asked_by: str | None

    @property
    def state(self) -> str:
        """One of `LIVING`, or dead."""
        if self.failed_at is not None:
            return "dead"
        if self.deadline is not None:
            return "out"
        return "retrying" if self.attempt else "waiting"


#: What a job that is not a dead letter can be: not begun, to be begun anew, with a worker.
LIVING = ("waiting", "retrying", "out")
_IS = {
    "waiting": "deadline is null and attempt = 0",
    "retrying": "deadline is null and attempt > 0",
    "out": "deadline is not null",
}

_COLUMNS = ", ".join(JobRow.__dataclass_fields__)
# A delivery goes on after a failed attempt without being a failed job: its own record says what came back.
_LISTED = _COLUMNS.replace(
    "last_error",
    "coalesce(last_error, (select coalesce(d.failure_reason, 'answered ' || d.response_status) from delivery d"
    f" where job.name = '{WEBHOOK_DELIVER.name}' and d.organization_id = job.organization_id"
    " and d.id = (job.args ->> 'delivery_id')::uuid))",
)


def any_org_living(
    *, states: Sequence[str], queue: str | None, organization_id: UUID | None, name: str | None, limit: int
) -> list[JobRow]:
    """Return jobs in any of these states, by when they are due, narrowed by what is given."""
    rows = db.run(
        f"select {_LISTED} from job where failed_at is null and ({' or '.join(_IS[state] for state in states)})"
        " and (%s::text is null or queue = %s) and (%s::uuid is null or organization_id = %s)"
        " and (%s::text is null or name = %s) order by run_at, id limit %s",
        (queue, queue, organization_id, organization_id, name, name, limit),
    )
    return [JobRow(*row) for row in rows]


def any_org_dead(*, queue: str | None, organization_id: UUID | None, name: str | None, limit: int) -> list[JobRow]:
    """Return dead letters, oldest first, narrowed by what is given."""
    rows = db.run(
        f"select {_COLUMNS} from job where failed_at is not null"
        " and (%s::text is null or queue = %s) and (%s::uuid is null or organization_id = %s)"
        " and (%s::text is null or name = %s) order by failed_at, id limit %s",
        (queue, queue, organization_id, organization_id, name, name, limit),
    )
    return [JobRow(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class DeadFilters:
    """Which dead letters: None leaves a column alone."""

    queue: str | None = None
    name: str | None = None
    organization_id: UUID | None = None


_MATCHING = """
failed_at is not null and (%(queue)s::text is null or queue = %(queue)s)
and (%(organization_id)s::uuid is null or organization_id = %(organization_id)s)
and (%(name)s::text is null or name = %(name)s)
"""
_DEAD_PAGE = f"""
select {_COLUMNS} from job where {_MATCHING}
and (%(at)s::timestamptz is null or (failed_at, id) < (%(at)s, %(id)s::bigint))
order by failed_at desc, id desc limit %(limit)s
"""


def any_org_dead_page(filters: DeadFilters, *, after: tuple[datetime, int] | None, limit: int) -> list[JobRow]:
    """Return dead letters, the newest first, from a position in that order on."""
    at, id = after or (None, None)
    return [JobRow(*row) for row in db.run(_DEAD_PAGE, {**asdict(filters), "at": at, "id": id, "limit": limit})]


def any_org_count_dead(filters: DeadFilters) -> int:
    """Return how many dead letters there are."""
    row = db.row(f"select count(*) from job where {_MATCHING}", asdict(filters))
    assert row is not None
    return int(row[0])


def any_org_lock_dead(filters: DeadFilters) -> list[int]:
    """Lock dead letters and return their ids."""
    return [id for (id,) in db.run(f"select id from job where {_MATCHING} order by id for update", asdict(filters))]


def any_org_find(job_id: int) -> JobRow | None:
    """Return one job of any organization, dead or alive."""
    row = db.row(f"select {_COLUMNS} from job where id = %s", (job_id,))
    return JobRow(*row) if row else None


def any_org_replay(job_ids: Sequence[int]) -> list[int]:
    """Make dead letters wait again with a fresh count of attempts; returns the ids that were dead, in order."""
    rows = db.run(f"{REPLAY} and id = any(%s) returning id", (list(job_ids),))
    return sorted(job_id for (job_id,) in rows)


def any_org_discard(job_id: int) -> bool:
    """Delete a dead letter for good; says whether there was one."""
    return bool(db.run("delete from job where id = %s and failed_at is not null returning id", (job_id,)))


def pause(queue: str, *, why: str) -> None:
    """Hand nothing more out of `queue`; what is out finishes."""
    db.run("insert into queue_pause (queue, why) values (%s, %s) on conflict do nothing", (queue, why))


def resume(queue: str) -> None:
    """Hand out of `queue` again."""
    db.run("delete from queue_pause where queue = %s", (queue,))


def paused() -> dict[str, tuple[datetime, str]]:
    """Return the queues that are paused: since when, and why."""
    return {queue: (at, why) for queue, at, why in db.run("select queue, paused_at, why from queue_pause")}
