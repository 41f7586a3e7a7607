"""Jobs that a worker takes along with the one it was handed, because more of the same kind are due: a batch.

What is taken along was due and not handed out, of the same kind, organization and fair key, and never tried before:
whatever failed, died or was put off once has a hand-out of its own, and so has what comes with nobody. Its queue is not
paused. The rows are locked as the relay locks them, so neither it nor another worker has them at the same time.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.jobs import Job
from models.db import db
from models.jobs.rows import Claimed
from models.prepared_statements import PreparedStatement


@dataclass(frozen=True, slots=True)
class Batch:
    """Job rows locked by one worker, the one that it was handed first; the transaction belongs to their organization.

    `attempt` of each is the number of the attempt that this is.
    """

    jobs: Sequence[Claimed]
    fair_key: str

    @property
    def first(self) -> Claimed:
        """The job that was handed out."""
        return self.jobs[0]


# What is due since the first or later stands behind it in the index, so nothing that was done before is passed over.
# For the first it waits: a worker that was about to take it along when it was handed out has it locked until its own
# transaction ends, though it goes without it. Nothing is held meanwhile.
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
    """Lock a job as `rows.lock` does, and more that can be done with it, as many together as its kind says.

    Of the fair keys `alone` nothing is taken along, nor with a job that was tried before. Nothing is
    counted: if the transaction fails, what was taken along is as due as it was.
    Budget: 1 round trip.
    """
    params = {"id": job_id, "attempt": attempt, "most": job.batch_size, "alone": list(alone)}
    found = db.run(_LOCK, params | {"idle_timeout_s": idle_timeout_s})
    if not found:
        return None
    claimed = [
        Claimed(id=id, organization_id=org, args=args, attempt=number, max_attempts=most_attempts)
        for id, org, args, number, most_attempts, *_ in found
    ]
    return Batch(claimed, fair_key=found[0][5])


_DONE = PreparedStatement("delete from job where id = any(%s)")


def stage_done(jobs: Sequence[Claimed]) -> None:
    """Delete rows in the transaction that locked them and did their work."""
    if jobs:
        db.stage(_DONE, ([job.id for job in jobs],))


# Those that were taken along have had no hand-out: it is made up for here, as the relay and `rows.stage_begun` have it.
_BEGUN = PreparedStatement("""
update job set attempt = begun.attempt, process_id = %(process)s,
  taken_with = case when job.id <> %(first)s then %(first)s::bigint end,
  deadline = greatest(deadline, now() + make_interval(secs => coalesce(lease_s, %(lease_s)s))),
  run_at = greatest(deadline, now() + make_interval(secs => coalesce(lease_s, %(lease_s)s)))
from unnest(%(ids)s::bigint[], %(attempts)s::int[]) as begun (id, attempt) where job.id = begun.id
""")


def stage_begun(jobs: Sequence[Claimed], *, first_id: int, process_id: UUID, lease_s: int) -> None:
    """Count an attempt of what was taken along with `first_id`, and give each of these a lease that begins now.

    From here on each is as one that was handed out and begun. `lease_s` is for kinds without a lease of their own.
    """
    params = {"process": process_id, "first": first_id, "lease_s": lease_s}
    if jobs:
        db.stage(_BEGUN, params | _pointers(jobs))


_RECORDED = PreparedStatement("""
delete from job using unnest(%(ids)s::bigint[], %(attempts)s::int[]) as done (id, attempt)
where job.id = done.id and job.attempt = done.attempt
""")
_AGAIN = PreparedStatement("""
update job set deadline = null, max_attempts = max_attempts + 1, run_at = again.at, waits_for = again.why
from unnest(%(ids)s::bigint[], %(attempts)s::int[], %(at)s::timestamptz[], %(whys)s::text[])
  as again (id, attempt, at, why)
where job.id = again.id and job.attempt = again.attempt
""")


def stage_recorded(outcomes: Sequence[tuple[Claimed, datetime | None, str | None]]) -> None:
    """Stage what became of calls: each is done (None), or waits until then with one attempt more to use, and why.

    One that has moved on to another attempt since stays as it is.
    """
    if done := [job for job, at, _ in outcomes if at is None]:
        db.stage(_RECORDED, _pointers(done))
    if again := [(job, at, why) for job, at, why in outcomes if at is not None]:
        pointers = _pointers([job for job, *_ in again])
        db.stage(_AGAIN, pointers | {"at": [at for _, at, _ in again], "whys": [why for *_, why in again]})


_GIVEN_BACK = PreparedStatement("""
update job set deadline = null, max_attempts = max_attempts + 1, run_at = now()
from unnest(%(ids)s::bigint[], %(attempts)s::int[]) as uncalled (id, attempt)
where job.id = uncalled.id and job.attempt = uncalled.attempt
returning job.id
""")


def give_back(jobs: Sequence[Claimed]) -> set[int]:
    """Make calls that were begun in name only due at once, with one attempt more to use.

    Returns the numbers of those, locked. One that has moved on to another attempt since stays as it is, and may have
    been called by now.
    """
    return {number for (number,) in db.run(_GIVEN_BACK, _pointers(jobs))}


def _pointers(jobs: Sequence[Claimed]) -> dict[str, object]:
    return {"ids": [job.id for job in jobs], "attempts": [job.attempt for job in jobs]}
