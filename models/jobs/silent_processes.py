"""The jobs that a silent worker process holds, and their release."""

from collections.abc import Collection, Sequence
from uuid import UUID

from models.db import db

#: A job's id and the number of an attempt.
HeldJob = tuple[int, int]

# A locked row is in the middle of a transaction: of a process that froze, or of another worker that has it by now.
_RELEASE = """
with held as (
  select id, attempt from unnest(%(ids)s::bigint[], %(attempts)s::int[]) as fetched (id, attempt)
  union
  select id, attempt from job where process_id = %(process)s and failed_at is null and deadline is not null
), free as (
  select job.id from held join job using (id, attempt)
  where failed_at is null and deadline > now() and (run_at < deadline or name <> all(%(full_lease)s))
  for update of job skip locked
)
update job set deadline = now(), run_at = least(run_at, now()) where id in (select id from free)
"""

_STILL_HELD = """
select id, attempt from unnest(%(ids)s::bigint[], %(attempts)s::int[]) as fetched (id, attempt)
join job using (id, attempt)
where failed_at is null and deadline > now() and (run_at < deadline or name <> all(%(full_lease)s))
"""


def any_org_release(*, process_id: UUID, fetched: Collection[HeldJob], full_lease: Sequence[str]) -> set[HeldJob]:
    """Set the jobs of a silent process due at once: those it `fetched` from the broker, and the calls that it started.

    Started calls of the kinds `full_lease` stay its own until their lease ends. Returns those of `fetched` that it
    still holds: their rows are locked.
    """
    jobs = sorted(fetched)
    params = {
        "process": process_id,
        "ids": [job_id for job_id, _ in jobs],
        "attempts": [attempt for _, attempt in jobs],
        "full_lease": list(full_lease),
    }
    db.stage(_RELEASE, params)
    return {(job_id, attempt) for job_id, attempt in db.run(_STILL_HELD, params)}
