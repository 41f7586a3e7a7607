"""The job table: staging, dispatching, locking and finishing jobs. Operators read it by `models.jobs.admin_queries`.

Times are the database's clock throughout, so no process's own clock can dispatch a job early or twice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.jobs import Job
from models import advisory_locks
from models.db import Json, db
from models.jobs import processes
from models.prepared_statements import PreparedStatement


@dataclass(frozen=True, slots=True)
class Pointer:
    """The message to the broker: a job's row, attempt, queue and name, its fair key and the span that it continues."""

    job_id: int
    attempt: int
    queue: str
    name: str
    trace: str | None = None
    fair_key: str = ""


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job row locked by the worker that runs it; the transaction now belongs to its organization."""

    id: int
    organization_id: UUID | None
    args: Mapping[str, str]
    attempt: int
    max_attempts: int

    @property
    def tenant(self) -> UUID:
        """The organization of a tenant's job."""
        if self.organization_id is None:
            raise ValueError(f"job {self.id} belongs to no organization")
        return self.organization_id


def kind_columns(job: Job) -> dict[str, object]:
    """Return the values that all rows of a kind of job share, by column."""
    return {"queue": job.queue, "name": job.name, "max_attempts": job.max_attempts, "lease_s": job.lease_s}


_INSERT = """
insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s, run_at)
values (%(org)s, %(queue)s, %(name)s, %(args)s, %(fair_key)s, %(max_attempts)s, %(lease_s)s,
  coalesce(%(run_at)s, now()))
"""
_STAGE = PreparedStatement(_INSERT)


def stage(
    job: Job, *, organization_id: UUID | None, args: Mapping[str, str], fair_key: str, run_at: datetime | None
) -> None:
    """Stage one waiting job, due at `run_at` (None: now)."""
    values = {"org": organization_id, "args": Json(args), "fair_key": fair_key, "run_at": run_at}
    db.stage(_STAGE, kind_columns(job) | values)


def insert(job: Job, *, organization_id: UUID, args: Mapping[str, str]) -> int:
    """Insert one job of an organization, due now, and return its id."""
    values = {"org": organization_id, "args": Json(args), "fair_key": str(organization_id), "run_at": None}
    row = db.row(f"{_INSERT} returning id", kind_columns(job) | values)
    assert row is not None  # a statement that inserts nothing has raised
    return int(row[0])


_STAGE_ALL = PreparedStatement("""
insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s, run_at)
select %(org)s, %(queue)s, %(name)s, args, %(fair_key)s, %(max_attempts)s, %(lease_s)s,
  coalesce(%(run_at)s, now())
from jsonb_array_elements(%(args)s) args
""")


def stage_all(
    job: Job, *, organization_id: UUID, args: Sequence[Mapping[str, str]], fair_key: str, run_at: datetime | None
) -> None:
    """Stage one waiting job of an organization per element of `args`, in one statement."""
    values = {"org": organization_id, "args": Json(list(args)), "fair_key": fair_key, "run_at": run_at}
    db.stage(_STAGE_ALL, kind_columns(job) | values)


_STAGE_DEAD = """
insert into job (organization_id, queue, name, args, fair_key, attempt, max_attempts, failed_at, last_error)
select %(org)s, %(queue)s, %(name)s, %(args)s, %(fair_key)s, 1, 1, now(), %(error)s where not exists
  (select from job where queue = %(queue)s and failed_at is not null and name = %(name)s and args = %(args)s::jsonb)
"""


def stage_dead_letter(
    job: Job, *, organization_id: UUID | None, args: Mapping[str, str], fair_key: str, error: str
) -> None:
    """Stage a job that is a dead letter from the start, for work that could not be started at all.

    A dead letter of the same kind with the same arguments is not added again.
    """
    values = {"org": organization_id, "args": Json(args), "fair_key": fair_key, "error": error}
    db.stage(_STAGE_DEAD, kind_columns(job) | values)


def any_org_has_jobs(*, queue: str, fair_key: str) -> bool:
    """Return whether any job of a fair key waits or is dispatched."""
    return bool(
        db.run("select from job where queue = %s and fair_key = %s and failed_at is null limit 1", (queue, fair_key))
    )


def any_org_queues_with_jobs(queues: Sequence[str]) -> list[str]:
    """Return those of the queues that have a job that waits, is due later or is dispatched, in the given order."""
    sql = (
        "select queue from unnest(%s::text[]) with ordinality as requested (queue, number)"
        " where exists (select from job where job.queue = requested.queue and failed_at is null) order by number"
    )
    return [queue for (queue,) in db.run(sql, (list(queues),))]


# $live are the processes that take jobs of the queue, with the threads that its jobs may hold. A call that a process
# started which died or is about to end takes no room of theirs; the holder of a job that has not started is unknown. A
# job in a batch of another runs in that one's thread.
# $keys walks the distinct fair keys that have a waiting job, one index probe per key, however long the backlog of one
# of them is. Each key offers at most its share; offers are taken round by round (every key's oldest first), so a key
# with 50,000 rows and a key with one both move. Keys of one server (`domain.thread_slots`) have one share together.
_DISPATCH = PreparedStatement("""
with recursive live as (
  select id, case when %(is_long)s and cardinality(queues) > 1 then greatest(threads / 2, 1) else threads end as threads
  from worker_process
  where %(queue)s = any(queues) and seen_at > now() - make_interval(secs => %(silent_after_s)s)
    and not exists (select 1 from queue_pause where queue = %(queue)s)
), held as (
  select fair_key, count(*) as out, count(*) filter (where process_id is null or live.id is not null) as in_room
  from job left join live on live.id = process_id
  where queue = %(queue)s and failed_at is null and deadline > now() and taken_with is null group by fair_key
), size as (
  select coalesce(%(per_thread)s * sum(threads), 0) as jobs from live
), room as (
  select greatest(jobs - (select coalesce(sum(in_room), 0) from held), 0) as free,
    case when %(is_long)s then least(%(share)s, greatest(jobs / 2, 1)) else %(share)s end as share from size
), keys (fair_key) as (
  (select fair_key from job where queue = %(queue)s and failed_at is null order by fair_key limit 1)
  union all
  select (select fair_key from job where queue = %(queue)s and failed_at is null and fair_key > keys.fair_key
          order by fair_key limit 1)
  from keys where keys.fair_key is not null
), offers as (
  select offer.id, offer.run_at, substring(keys.fair_key from '[^@]*$') as server,
         coalesce(held.out, 0) + row_number() over (partition by keys.fair_key order by offer.run_at) as turn
  from room, keys left join held using (fair_key) cross join lateral (
    select id, run_at from job
    where queue = %(queue)s and fair_key = keys.fair_key and failed_at is null and run_at <= now()
      and (deadline is null or deadline <= now())
    order by run_at limit least(room.free, greatest(room.share - coalesce(held.out, 0), 0))
    for update skip locked
  ) offer
  where room.free > 0
), ranked as (
  select id, turn, run_at,
    coalesce(busy.out, 0) + row_number() over (partition by server order by turn, run_at) as server_turn
  from offers left join (
    select substring(fair_key from '[^@]*$') as server, sum(out) as out from held group by 1
  ) busy using (server)
), taken as (
  select id from ranked, room where server_turn <= room.share order by turn, run_at limit (select free from room)
)
update job set
  process_id = null, taken_with = null,
  attempt = case when attempt < max_attempts then attempt + 1 else attempt end,
  deadline = case when attempt < max_attempts then now() + make_interval(secs => coalesce(lease_s, %(lease_s)s)) end,
  failed_at = case when attempt >= max_attempts then now() end,
  last_error = case when attempt >= max_attempts
    then coalesce(last_error, '') || 'every attempt was handed out and none came back: the worker died each time'
    else last_error end
where id in (select id from taken)
returning id, attempt, queue, name, failed_at, trace, fair_key
""")


def any_org_dispatch(
    *,
    queue: str,
    per_thread: int,
    share: int,
    lease_s: int,
    is_long: bool = False,
    on_dead: Callable[[Sequence[int]], None] | None = None,
) -> list[Pointer]:
    """Count an attempt and set a deadline on as many due jobs of `queue` as live workers have room for.

    At most `per_thread` jobs per live worker thread are dispatched at once, and at most `share` per fair key. If jobs
    hold a thread for long (`is_long`), a process that serves other queues as well counts with half of its threads, and
    one fair key has at most half of the jobs that may be dispatched. A job whose attempts are used up without a result
    (it kills its worker) becomes a dead letter here; `on_dead` gets their ids. The commit need not wait for the disk:
    if a crash loses it, the same attempt is dispatched again.
    """
    db.stage("set local synchronous_commit = off")
    advisory_locks.any_org_stage_dispatch_lock()
    params = {"queue": queue, "per_thread": per_thread, "share": share, "lease_s": lease_s, "is_long": is_long}
    rows = db.run(_DISPATCH, params | {"silent_after_s": processes.SILENT_AFTER_S})
    dead = [job_id for job_id, _, _, _, failed_at, _, _ in rows if failed_at is not None]
    if dead and on_dead is not None:
        on_dead(dead)
    return [
        Pointer(job_id=job_id, attempt=attempt, queue=queue_name, name=name, trace=trace, fair_key=fair_key)
        for job_id, attempt, queue_name, name, failed_at, trace, fair_key in rows
        if failed_at is None
    ]


def any_org_stage_undo_dispatch(pointers: Sequence[Pointer]) -> None:
    """Stage that pointers never reached the broker: their jobs wait again, with one attempt more to use."""
    db.stage(
        "update job set deadline = null, max_attempts = max_attempts + 1"
        " from unnest(%s::bigint[], %s::int[]) as lost (id, attempt)"
        " where job.id = lost.id and job.attempt = lost.attempt"
        " and job.deadline is not null and job.failed_at is null",
        ([p.job_id for p in pointers], [p.attempt for p in pointers]),
    )


_LOCK = PreparedStatement(
    "select set_config('app.any_org', case when organization_id is null then 'on' else '' end, true),"
    " set_config('app.org', coalesce(organization_id::text, ''), true),"
    " set_config('idle_in_transaction_session_timeout',"
    "  coalesce(%s || 's', current_setting('idle_in_transaction_session_timeout')), true),"
    " id, organization_id, args, attempt, max_attempts from job"
    " where id = %s and attempt = %s and run_at < deadline and failed_at is null for update skip locked"
)


def lock(*, job_id: int, attempt: int, idle_timeout_s: int | None = None) -> ClaimedJob | None:
    """Lock the row if this attempt is still the current one, and make the transaction its organization's.

    The server ends this transaction if it sends no statement for `idle_timeout_s` seconds (None: as every other one).
    Returns None if the job is done, was dispatched again, or was started by another worker.
    """
    row = db.row(_LOCK, (idle_timeout_s, job_id, attempt))
    if row is None:
        return None
    return ClaimedJob(id=row[3], organization_id=row[4], args=row[5], attempt=row[6], max_attempts=row[7])


# A lease of its own starts with the call: a job whose pointer arrived late must not be dispatched again in mid-call.
_START = PreparedStatement("""
update job set run_at = greatest(deadline, now() + make_interval(secs => coalesce(lease_s, 0))),
  deadline = greatest(deadline, now() + make_interval(secs => coalesce(lease_s, 0))), process_id = %s
where id = %s and attempt = %s
""")


def stage_start(*, job_id: int, attempt: int, process_id: UUID) -> None:
    """Stage that a process has started this attempt, so that a second copy of its pointer does not start it again.

    A job with a lease of its own has all of it from now on. It is due again when its lease ends, like every dispatched
    job, or when its process is silent.
    """
    db.stage(_START, (process_id, job_id, attempt))


_DELETE = PreparedStatement("delete from job where id = %s and attempt = %s")


def stage_delete(*, job_id: int, attempt: int) -> None:
    """Stage the delete of a job, in the transaction of the work that it did."""
    db.stage(_DELETE, (job_id, attempt))


def any_org_record_failure(*, job_id: int, attempt: int, error: str, retry_in_s: int | None) -> bool | None:
    """Record a failed attempt: the job waits `retry_in_s`, or is a dead letter if that is None or no attempt is left.

    Returns whether it is a dead letter now; None if the attempt was no longer the current one.
    """
    row = db.row(
        "update job set deadline = null, last_error = %s, waits_for = null,"
        " run_at = case when %s::int is null then run_at else now() + make_interval(secs => %s) end,"
        " failed_at = case when %s::int is null or attempt >= max_attempts then now() end"
        " where id = %s and attempt = %s and failed_at is null returning failed_at is not null",
        (error, retry_in_s, retry_in_s or 0, retry_in_s, job_id, attempt),
    )
    return row[0] if row else None


_RETRY = PreparedStatement("""
update job set deadline = null, max_attempts = max_attempts + 1, run_at = %s, waits_for = %s
where id = %s and attempt = %s
""")


def stage_retry(*, job_id: int, attempt: int, at: datetime, why: str | None) -> None:
    """Stage that a job waits until `at`, with one attempt more to use; `why` tells operators what it waits for.

    The number of an attempt is never used twice: by it a late worker sees that the job has moved on.
    """
    db.stage(_RETRY, (at, why, job_id, attempt))


# An hour is far longer than a release takes to reach every fleet. Only the waits between two attempts count, neither a
# pause of the queue nor a time without workers.
_UNKNOWN_FOR_S = 3600
_UNKNOWN = f"""
update job set
  deadline = null, max_attempts = max_attempts + 1,
  unknown_s = unknown_s + least(greatest(unknown_s, %(first_s)s), %(max_s)s),
  run_at = now() + make_interval(secs => least(greatest(unknown_s, %(first_s)s), %(max_s)s)),
  failed_at = case when unknown_s >= {_UNKNOWN_FOR_S} then now() end,
  last_error = format(case when unknown_s >= {_UNKNOWN_FOR_S}
    then 'No worker knew this kind of work, %%s, for an hour. Start workers of a release that does, then:'
      ' flask jobs replay %%s'
    else 'A worker does not know this kind of work, %%s; another release may. It is asked again.' end, name, id)
    || coalesce(E'\\n' || nullif(%(why)s, ''), '')
where id = %(id)s and attempt = %(attempt)s and failed_at is null
returning name, failed_at is not null
"""


def any_org_postpone_unknown(
    *, job_id: int, attempt: int, why: str, first_s: int, max_s: int
) -> tuple[str, bool] | None:
    """Postpone a job of a kind that this release does not know or cannot read, with one attempt more to use.

    It waits `first_s` seconds, then twice as long each time up to `max_s`; after an hour it becomes a dead letter.
    Returns its kind and whether it is dead now; None if the attempt was no longer the current one.
    """
    row = db.row(_UNKNOWN, {"id": job_id, "attempt": attempt, "why": why, "first_s": first_s, "max_s": max_s})
    return (row[0], row[1]) if row else None


# A dead letter that is replayed gets as many attempts as most jobs have from the start.
_FRESH_ATTEMPTS = 20
REPLAY = (
    "update job set failed_at = null, deadline = null, unknown_s = 0, waits_for = null, run_at = now(),"
    f" max_attempts = attempt + {_FRESH_ATTEMPTS} where failed_at is not null"
)
