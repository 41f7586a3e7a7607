"""Live worker processes and their queues: the relay dispatches jobs in proportion to their threads.

A process has the id that it fetches with from the broker, so its fetched jobs can be found there.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from models.db import Json, db

#: A process that has not announced itself for this long counts as dead: it gets no more work, and the jobs it
#: held are dispatched again. Four announcements in a row (workers.process) are then missing.
SILENT_AFTER_S = 12
_NO_JOBS: Mapping[str, int] = {}
_IS_SILENT = f"seen_at <= now() - interval '{SILENT_AFTER_S} seconds'"


def announce(*, process_id: UUID, queues: Sequence[str], threads: int, done: Mapping[str, int] = _NO_JOBS) -> None:
    """Announce that a worker process is alive; called every few seconds. Without queues it only finishes its jobs.

    `done` is how many jobs of each queue it did within the last minute.
    """
    db.run(
        "insert into worker_process (id, queues, threads, done) values (%s, %s, %s, %s) on conflict (id) do update"
        " set seen_at = now(), queues = excluded.queues, threads = excluded.threads, done = excluded.done",
        (process_id, list(queues), threads, Json(dict(done))),
    )


def withdraw(process_id: UUID) -> None:
    """Withdraw a worker process that has ended and holds no job."""
    db.run("delete from worker_process where id = %s", (process_id,))


def count_live_threads() -> dict[str, int]:
    """Return how many live worker threads take jobs of each queue."""
    rows = db.run(
        "select queue, sum(threads)::int from worker_process, unnest(queues) as queue"
        f" where not ({_IS_SILENT}) group by queue"
    )
    return dict(rows)


def count_done_last_minute() -> dict[str, int]:
    """Return how many jobs of each queue the live worker processes did within a minute."""
    rows = db.run(
        "select done.key, sum(done.value::int)::int from worker_process, jsonb_each_text(done) done"
        f" where not ({_IS_SILENT}) group by done.key"
    )
    return dict(rows)


def list_silent() -> list[UUID]:
    """Return the processes that have been silent for SILENT_AFTER_S."""
    return [process_id for (process_id,) in db.run(f"select id from worker_process where {_IS_SILENT} order by id")]


def lock_silent(process_id: UUID) -> bool:
    """Lock a silent process; return whether it is still silent. Its next announcement waits for this transaction."""
    return bool(db.run(f"select from worker_process where id = %s and {_IS_SILENT} for update", (process_id,)))


def stage_delete(process_id: UUID) -> None:
    """Stage the delete of a process that holds no job any more."""
    db.stage("delete from worker_process where id = %s", (process_id,))


def stage_delete_silent() -> None:
    """Stage the delete of worker processes that went silent an hour ago."""
    db.stage("delete from worker_process where seen_at < now() - interval '1 hour'")
