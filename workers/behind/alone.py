"""Which kinds of jobs go alone for a while, because a batch of them failed.

A batch that fails has done nothing, and the job that was handed out runs alone. For a while nothing is taken along with
its kind then, of its fair key: the one at fault meets a hand-out of its own, its own attempts and its own dead letter.
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

# Long enough for what was due beside the one at fault to be handed out, which happens within a second.
_ALONE_S = 10.0


class Alone:
    """Of which kinds and fair keys nothing is taken along in this process for a while."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._until: dict[tuple[str, str], float] = {}

    def note(self, job: Job, batch: Batch) -> None:
        """Take nothing along with this kind of this fair key for a while."""
        with self._turn:
            self._until[job.name, batch.fair_key] = time.monotonic() + _ALONE_S

    def keys(self, job: Job) -> Collection[str]:
        """Return the fair keys of which nothing is taken along with a kind now."""
        if not self._until:
            return ()
        now = time.monotonic()
        with self._turn:
            self._until = {which: until for which, until in self._until.items() if until > now}
            return [fair_key for name, fair_key in self._until if name == job.name]

    def forget(self) -> None:
        """Let everything be taken along again."""
        with self._turn:
            self._until = {}

    def comes_after(self, job: Job, batch: Batch | None, error: Exception) -> bool:
        """Say whether the job that was handed out is to run alone now, because the batch with it failed of `error`.

        Not so if it was alone already, or if there is no database to run on.
        """
        if batch is None or len(batch.jobs) == 1:
            return False
        self.note(job, batch)
        metrics.count_failed_batch(job.name)
        _log.warning("job.batch_failed", jobs=len(batch.jobs), error=type(error).__name__)
        return not isinstance(error, db.UNAVAILABLE) or db.is_timeout_or_deadlock(error)


#: What this process takes singly.
alone = Alone()
