"""The job table as an operator sees it: how much waits where, dead letters, paused queues."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.jobs import GATEWAY_EVENT, WEBHOOK_DELIVER
from models.db import db
from models.jobs import losses
from models.jobs.error_line import error_line
from models.jobs.losses import UnfinishedWork
from models.jobs.rows import REPLAY

_IS_HELD_UP = "failed_at is null and deadline is null and waits_for is not null and run_at > now()"


def any_org_count_by_queue() -> list[tuple[Any, ...]]:
    """Return per queue: queue, waiting, retrying, out, dead, age of the oldest due row in seconds; of jobs that wait
    for an external server or a setting: why and until when the next one waits, and how many there are.
    """
    return db.run(
        "select queue,"
        " count(*) filter (where failed_at is null and deadline is null and attempt = 0),"
        " count(*) filter (where failed_at is null and deadline is null and attempt > 0),"
        " count(*) filter (where failed_at is null and deadline is not null),"
        " count(*) filter (where failed_at is not null),"
        " coalesce(extract(epoch from"
        "  now() - min(run_at) filter (where failed_at is null and run_at <= now())), 0)::bigint,"
        f" (array_agg(waits_for order by run_at) filter (where {_IS_HELD_UP}))[1],"
        f" min(run_at) filter (where {_IS_HELD_UP}), count(*) filter (where {_IS_HELD_UP})"
        " from job group by queue"
    )


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as an operator sees it. `asked_by` is the request or the job in whose transaction it was staged.

    `waits_for` is why it waits although nothing failed: an unreachable server, a paused queue. `leaves` is what a
    discard would leave undone, if that was read.
    """

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
    waits_for: str | None
    leaves: UnfinishedWork | None = None

    @property
    def error_line(self) -> str | None:
        """The first line of the message of its last error."""
        return error_line(self.last_error)

    @property
    def state(self) -> str:
        """One of `LIVING`, or dead."""
        if self.failed_at is not None:
            return "dead"
        if self.deadline is not None:
            return "out"
        return "retrying" if self.attempt else "waiting"


#: The states of a job that is not a dead letter: not started, to be started again, dispatched.
LIVING = ("waiting", "retrying", "out")
_IS = {
    "waiting": "deadline is null and attempt = 0",
    "retrying": "deadline is null and attempt > 0",
    "out": "deadline is not null",
}

_STORED = [field.name for field in fields(JobRow) if field.name != "leaves"]
# A delivery goes on after a failed attempt without being a failed job: its own record has the response, which is the
# error of a job that has none.
_COLUMNS = ", ".join(_STORED).replace(
    "waits_for",
    "case when failed_at is null and deadline is null then coalesce((select 'the queue is paused'"
    " || case when why = '' then '' else ': ' || why end from queue_pause where queue_pause.queue = job.queue),"
    " waits_for, (select 'it waits for the payment or refund that it names: ' || e.reason from gateway_event e"
    f" where job.name = '{GATEWAY_EVENT.name}' and e.status = 'Parked' and e.organization_id = job.organization_id"
    f" and e.id = {losses.uuid_argument('event_id', 'job')})) end as waits_for",
)
_LISTED = _COLUMNS.replace(
    "last_error",
    "coalesce(last_error, (select coalesce(d.failure_reason, 'answered ' || d.response_status) from delivery d"
    f" where job.name = '{WEBHOOK_DELIVER.name}' and d.organization_id = job.organization_id"
    " and d.id = (job.args ->> 'delivery_id')::uuid))",
)


def any_org_list_living(
    *, states: Sequence[str], queue: str | None, organization_id: UUID | None, name: str | None, limit: int
) -> list[JobRow]:
    """Return jobs in any of these states that match the filters (None: any), by when they are due."""
    rows = db.run(
        f"select {_LISTED} from job where failed_at is null and ({' or '.join(_IS[state] for state in states)})"
        " and (%s::text is null or queue = %s) and (%s::uuid is null or organization_id = %s)"
        " and (%s::text is null or name = %s) order by run_at, id limit %s",
        (queue, queue, organization_id, organization_id, name, name, limit),
    )
    return [JobRow(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class DeadFilters:
    """Filters of dead letters; None applies no filter. `error` is a part of their error, in any case."""

    queue: str | None = None
    name: str | None = None
    organization_id: UUID | None = None
    error: str | None = None


_MATCHING = """
failed_at is not null and (%(queue)s::text is null or queue = %(queue)s)
and (%(organization_id)s::uuid is null or organization_id = %(organization_id)s)
and (%(name)s::text is null or name = %(name)s)
and (%(error)s::text is null or strpos(lower(last_error), lower(%(error)s)) > 0)
"""
_DEAD = f"select {_COLUMNS} from job where {_MATCHING} order by failed_at, id limit %(limit)s"


def any_org_list_dead(
    *, queue: str | None, organization_id: UUID | None, name: str | None, limit: int, error: str | None = None
) -> list[JobRow]:
    """Return dead letters that match the filters, oldest first."""
    filters = DeadFilters(queue, name, organization_id, error)
    return [JobRow(*row) for row in db.run(_DEAD, {**asdict(filters), "limit": limit})]


_AFTER = "(%(at)s::timestamptz is null or (failed_at, id) < (%(at)s, %(id)s::bigint))"
_NEWEST = "failed_at desc, id desc"


def _with_facts(jobs: str) -> str:
    return f"select j.*, {losses.FACT_COLUMNS} from ({jobs}) j {losses.FACTS}"


_DEAD_PAGE = f"""
{_with_facts(f"select {_COLUMNS} from job where {_MATCHING} and {_AFTER} order by {_NEWEST} limit %(limit)s")}
order by {_NEWEST}
"""


def any_org_dead_page(filters: DeadFilters, *, after: tuple[datetime, int] | None, limit: int) -> list[JobRow]:
    """Return dead letters after a position, newest first, each with the work that it leaves."""
    at, id = after or (None, None)
    return _with_leaves(_DEAD_PAGE, {**asdict(filters), "at": at, "id": id, "limit": limit})


def any_org_count_dead(filters: DeadFilters) -> int:
    """Return how many dead letters there are."""
    row = db.row(f"select count(*) from job where {_MATCHING}", asdict(filters))
    assert row is not None
    return int(row[0])


_SUMS = f"""
select j.name, fact.currency, count(*), sum(fact.amount_cents)::bigint from (select * from job where {_MATCHING}) j
{losses.FACTS} group by 1, 2 order by 1, 2 nulls last
"""


def any_org_sum_dead(filters: DeadFilters) -> list[tuple[str, str | None, int, int | None]]:
    """Return (kind, currency, number, amount in minor units) of dead letters."""
    return db.run(_SUMS, asdict(filters))


_LOCK_IDS = f"select id from job where {_MATCHING} order by id for update"


def any_org_lock_dead_ids(filters: DeadFilters) -> list[int]:
    """Lock dead letters and return their ids."""
    return [id for (id,) in db.run(_LOCK_IDS, asdict(filters))]


# Many at once: without their errors.
_LIGHT = _COLUMNS.replace("last_error", "null::text as last_error")
_LOCK_DEAD = f"""
{_with_facts(f"select {_LIGHT} from job where {_MATCHING} order by id limit %(limit)s for update of job")}
order by id
"""


def any_org_lock_dead(filters: DeadFilters, *, limit: int | None = None) -> list[JobRow]:
    """Lock and return dead letters by id without their errors, each with what it leaves; `limit` None: all."""
    return _with_leaves(_LOCK_DEAD, {**asdict(filters), "limit": limit})


_LOCK_SOME = f"""
{_with_facts(f"select {_COLUMNS} from job where id = any(%(ids)s) order by id for update of job")} order by id
"""


def any_org_lock(job_ids: Sequence[int]) -> list[JobRow]:
    """Lock jobs of any organization, dead or alive, and return them by id, each with the work that it leaves."""
    return _with_leaves(_LOCK_SOME, {"ids": list(job_ids)})


_FIND = _with_facts(f"select {_LISTED} from job where id = %(id)s")


def any_org_find(job_id: int) -> JobRow | None:
    """Return one job of any organization, dead or alive, with the work that it leaves."""
    return next(iter(_with_leaves(_FIND, {"id": job_id})), None)


def _with_leaves(sql: str, params: Mapping[str, object]) -> list[JobRow]:
    return [
        replace(JobRow(*row[:-4]), leaves=losses.unfinished_work(row[_NAME], row[-4:])) for row in db.run(sql, params)
    ]


_NAME = _STORED.index("name")


def any_org_replay(job_ids: Sequence[int]) -> list[int]:
    """Make dead letters wait again with a new count of attempts; return the ids of those that were dead, in order."""
    rows = db.run(f"{REPLAY} and id = any(%s) returning id", (list(job_ids),))
    return sorted(job_id for (job_id,) in rows)


def pause_queue(queue: str, *, why: str) -> None:
    """Stop dispatching jobs of `queue`; those already dispatched finish."""
    db.run("insert into queue_pause (queue, why) values (%s, %s) on conflict do nothing", (queue, why))


def resume_queue(queue: str) -> None:
    """Dispatch jobs of `queue` again."""
    db.run("delete from queue_pause where queue = %s", (queue,))


def list_paused_queues() -> dict[str, tuple[datetime, str]]:
    """Return the paused queues, each with the time of the pause and its reason."""
    return {queue: (at, why) for queue, at, why in db.run("select queue, paused_at, why from queue_pause")}
