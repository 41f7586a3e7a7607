"""Which worker processes are alive, and for which queues: the relay hands out in proportion."""

from collections.abc import Sequence
from uuid import UUID

from models.db import db


def announce(*, process_id: UUID, queues: Sequence[str], threads: int) -> None:
    """Say that a worker process is alive. Called every few seconds; silent for 15 s counts as gone."""
    db.run(
        "insert into worker_process (id, queues, threads) values (%s, %s, %s)"
        " on conflict (id) do update set seen_at = now(), queues = excluded.queues, threads = excluded.threads",
        (process_id, list(queues), threads),
    )


def withdraw(process_id: UUID) -> None:
    """Say that a worker process takes no more work."""
    db.run("delete from worker_process where id = %s", (process_id,))


def live_threads() -> dict[str, int]:
    """Return how many live worker threads take jobs of each queue."""
    rows = db.run(
        "select queue, sum(threads)::int from worker_process, unnest(queues) as queue"
        " where seen_at > now() - interval '15 seconds' group by queue"
    )
    return dict(rows)


def stage_forget_silent() -> None:
    """Drop worker processes that went silent an hour ago."""
    db.stage("delete from worker_process where seen_at < now() - interval '1 hour'")
