"""Batches: a worker that was handed a job also does others of the same kind that are due.

The others are due and not dispatched, of the same kind, organization and fair key, in a queue that is not paused, and
were never tried before: a job that failed, died or was postponed once is dispatched by itself. The rows are locked as
the relay locks them, so neither it nor another worker has them at the same time.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.jobs import Job
from models.db import db
from models.jobs.rows import ClaimedJob
from models.prepared_statements import PreparedStatement


@dataclass(frozen=True, slots=True)
class Batch:
    """Jobs locked by one worker, the dispatched one first; the transaction belongs to their organization.

    `attempt` of each is the number of this attempt.
    """

    jobs: Sequence[ClaimedJob]
    fair_key: str

    @property
    def first(self) -> ClaimedJob:
        """The job that was dispatched."""
        return self.jobs[0]


# Jobs that are due since the first one or later follow it in the index, so no finished row is read again.
# The first is waited for: a worker that was about to batch it when it was dispatched has it locked until its own
# transaction ends, though it goes on without it. No lock is held meanwhile.
_LOCK = PreparedStatement("""
with first as materialized (
  select * from job where id = %(id)s and attempt = %(attempt)s and run_at < deadline and failed_at is null
  for update
), more as materialized (
  select other.* from first cross join lateral (
    select id, organization_id, args, attempt, max_attempts, fair_key from job
    where queue = first.queue and fair_key = first.fair_key and failed_at is null
      and run_at >= first.run_at and run_at <= now() and attempt = 0 and deadline is null
      and name = first.name and organization_id = first.organization_id
      and not exists (select from queue_pause where queue = first.queue)
    order by run_at
    limit case
      when first.attempt > 1 or first.fair_key = any(%(alone)s::text[]) then 0
      else %(most)s::int - 1
    end
    for update skip locked
  ) other
)
select id, organization_id, args, attempt, max_attempts, fair_key,
  set_config('app.any_org', case when organization_id is null then 'on' else '' end, true),
  set_config('app.org', coalesce(organization_id::text, ''), true),
  set_config('idle_in_transaction_session_timeout',
    coalesce(%(idle_timeout_s)s || 's', current_setting('idle_in_transaction_session_timeout')), true)
from first
union all select id, organization_id, args, attempt + 1, max_attempts, fair_key, null, null, null from more
""")


def lock(
    *, job: Job, job_id: int, attempt: int, alone: Collection[str], idle_timeout_s: int | None = None
) -> Batch | None:
    """Lock a job as `rows.lock` does, and others to do with it, up to the batch size of its kind.

    Jobs of the fair keys `alone` are not batched, nor is a job that was tried before. No attempt of the others is
    counted: if the transaction fails, they are as due as before.
    Budget: 1 round trip.
    """
    params = {"id": job_id, "attempt": attempt, "most": job.batch_size, "alone": list(alone)}
    rows = db.run(_LOCK, params | {"idle_timeout_s": idle_timeout_s})
    if not rows:
        return None
    claimed = [
        ClaimedJob(id=id, organization_id=org, args=args, attempt=number, max_attempts=max_attempts)
        for id, org, args, number, max_attempts, *_ in rows
    ]
    return Batch(claimed, fair_key=rows[0][5])


_DELETE = PreparedStatement("delete from job where id = any(%s)")


def stage_delete(jobs: Sequence[ClaimedJob]) -> None:
    """Stage the delete of jobs, in the transaction that locked them and did their work."""
    if jobs:
        db.stage(_DELETE, ([job.id for job in jobs],))


# The others of a batch were never dispatched: this is what the relay and `rows.stage_start` write for a dispatched job.
_START = PreparedStatement("""
update job set attempt = begun.attempt, process_id = %(process)s,
  taken_with = case when job.id <> %(first)s then %(first)s::bigint end,
  deadline = greatest(deadline, now() + make_interval(secs => coalesce(lease_s, %(lease_s)s))),
  run_at = greatest(deadline, now() + make_interval(secs => coalesce(lease_s, %(lease_s)s)))
from unnest(%(ids)s::bigint[], %(attempts)s::int[]) as begun (id, attempt) where job.id = begun.id
""")


def stage_start(jobs: Sequence[ClaimedJob], *, first_id: int, process_id: UUID, lease_s: int) -> None:
    """Stage that an attempt of the jobs in a batch with `first_id` is counted, with a lease that starts now.

    Each is then like a job that was dispatched and started. `lease_s` is for kinds without a lease of their own.
    """
    params = {"process": process_id, "first": first_id, "lease_s": lease_s}
    if jobs:
        db.stage(_START, params | _pointers(jobs))


_DELETE_CALLED = PreparedStatement("""
delete from job using unnest(%(ids)s::bigint[], %(attempts)s::int[]) as done (id, attempt)
where job.id = done.id and job.attempt = done.attempt
""")
_RETRY = PreparedStatement("""
update job set deadline = null, max_attempts = max_attempts + 1, run_at = again.at, waits_for = again.why
from unnest(%(ids)s::bigint[], %(attempts)s::int[], %(at)s::timestamptz[], %(whys)s::text[])
  as again (id, attempt, at, why)
where job.id = again.id and job.attempt = again.attempt
""")


def stage_call_outcomes(outcomes: Sequence[tuple[ClaimedJob, datetime | None, str | None]]) -> None:
    """Stage the outcomes of calls: a job is done (None), or waits until a time, for a reason, with one attempt more.

    A job that has moved on to another attempt since stays as it is.
    """
    if done := [job for job, at, _ in outcomes if at is None]:
        db.stage(_DELETE_CALLED, _pointers(done))
    if retries := [(job, at, why) for job, at, why in outcomes if at is not None]:
        pointers = _pointers([job for job, *_ in retries])
        db.stage(_RETRY, pointers | {"at": [at for _, at, _ in retries], "whys": [why for *_, why in retries]})


_REQUEUE_UNCALLED = PreparedStatement("""
update job set deadline = null, max_attempts = max_attempts + 1, run_at = now()
from unnest(%(ids)s::bigint[], %(attempts)s::int[]) as uncalled (id, attempt)
where job.id = uncalled.id and job.attempt = uncalled.attempt
returning job.id
""")


def requeue_uncalled(jobs: Sequence[ClaimedJob]) -> set[int]:
    """Set jobs whose call was not made due at once and give back their attempt; return their ids, locked.

    A job that has moved on to another attempt since stays as it is: its call may have been made by now.
    """
    return {number for (number,) in db.run(_REQUEUE_UNCALLED, _pointers(jobs))}


def _pointers(jobs: Sequence[ClaimedJob]) -> dict[str, object]:
    return {"ids": [job.id for job in jobs], "attempts": [job.attempt for job in jobs]}
