"""Kinds of jobs that run singly for a while, because a batch of them failed.

A batch that fails has changed nothing, and the job that was dispatched runs alone. For a while jobs of its kind and
fair key are not batched then: the faulty one is dispatched by itself, with its own attempts and its own dead letter.
"""

import threading
import time
from collections.abc import Collection

import structlog

from domain.jobs import Job
from models import db
from models.jobs.batches import Batch
from workers import metrics

_log = structlog.get_logger(__name__)

# Long enough for the jobs that were due together with the faulty one to be dispatched, which happens within a second.
_PAUSE_S = 10.0


class BatchPauses:
    """The kinds and fair keys whose jobs this process does not batch for a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: dict[tuple[str, str], float] = {}

    def pause(self, job: Job, batch: Batch) -> None:
        """Stop batching jobs of this kind and fair key for a while."""
        with self._lock:
            self._until[job.name, batch.fair_key] = time.monotonic() + _PAUSE_S

    def paused_keys(self, job: Job) -> Collection[str]:
        """Return the fair keys whose jobs of a kind are not batched now."""
        if not self._until:
            return ()
        now = time.monotonic()
        with self._lock:
            self._until = {key: until for key, until in self._until.items() if until > now}
            return [fair_key for name, fair_key in self._until if name == job.name]

    def clear(self) -> None:
        """Allow batches of all jobs again."""
        with self._lock:
            self._until = {}

    def pause_after(self, job: Job, batch: Batch | None, error: Exception) -> bool:
        """Pause batching after a batch failed of `error`, and return whether its first job is to run alone now.

        It is not if it was alone already, or if the database is unavailable.
        """
        if batch is None or len(batch.jobs) == 1:
            return False
        self.pause(job, batch)
        metrics.count_failed_batch(job.name)
        _log.warning("job.batch_failed", jobs=len(batch.jobs), error=type(error).__name__)
        return not isinstance(error, db.UNAVAILABLE) or db.is_timeout_or_deadlock(error)


#: The pauses of this process.
batch_pauses = BatchPauses()
