"""What becomes of the jobs that a silent worker process holds."""

from collections.abc import Collection, Sequence
from uuid import UUID

from models.db import db

#: A job's id and the number of an attempt.
Held = tuple[int, int]

# A row that is locked is in the middle of a transaction: of a process that froze, or of somebody who has it by now.
_LET_GO = """
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


def any_org_let_go(*, process_id: UUID, fetched: Collection[Held], full_lease: Sequence[str]) -> set[Held]:
    """Make due at once what a silent process holds: what it `fetched` from the broker, and the calls that it began.

    Calls of the kinds `full_lease` that were begun stay its own until their lease ends. Returns what of `fetched` it
    still holds: the rows that are locked.
    """
    held = sorted(fetched)
    params = {
        "process": process_id,
        "ids": [job_id for job_id, _ in held],
        "attempts": [attempt for _, attempt in held],
        "full_lease": list(full_lease),
    }
    db.stage(_LET_GO, params)
    return {(job_id, attempt) for job_id, attempt in db.run(_STILL_HELD, params)}
