"""Runs one job row: lock it, do the work, delete it, all in one transaction; or record why not.

A message is only a pointer (job id, attempt). A pointer whose row is gone, or has moved on to another attempt, is
dropped: the work is done, or is somebody else's by now. So a message may come late, twice or never.

A worker that is behind takes more of the same kind along (`models.jobs.batches`), where a kind knows how to do several.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

import dramatiq
import structlog

import settings
from adapters.tracing import spans
from domain.jobs import Job
from models import db
from models.jobs import batches, rows
from models.jobs.batches import Batch
from workers import failing, metrics, pace, process
from workers.behind import calls
from workers.behind.alone import alone
from workers.behind.calls import Called, CallsTogether

_log = structlog.get_logger(__name__)

# Its lease is how long a job's transaction may say nothing: then others may have the row and what it locked.
_SILENCE_BEYOND_LEASE_S = 1


Work = Callable[[rows.ClaimedJob], None]
WorkTogether = Callable[[Sequence[rows.ClaimedJob]], None]
Prepared = TypeVar("Prepared")
Answer = TypeVar("Answer")


def idle_timeout_s(lease_s: int) -> int:
    """Return how long a transaction of a job with this lease may say nothing before it counts as frozen, in seconds."""
    return lease_s + _SILENCE_BEYOND_LEASE_S


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a message: `number` is how many jobs ended so."""

    outcome: str = "done"
    number: int = 1


Run = Callable[..., Ran]


def database_job(job: Job, *, together: WorkTogether | None = None) -> Callable[[Work], Work]:
    """Register `work` as what runs `job`, wholly inside one transaction of the job's organization.

    `together` does several in one transaction, two at least, with the same result as `work` one after another in the
    order in which they are due; for a kind that says how many (`Job.together`). Where it raises, nothing of it has
    happened, and `work` does the one that was handed out.
    """
    timeout_s = None if job.lease_s is None else idle_timeout_s(job.lease_s)
    _must_agree(job, together)

    def register(work: Work) -> Work:
        def run(job_id: int, attempt: int, **_: object) -> Ran:
            with db.any_org_work():
                claimed = rows.lock(job_id=job_id, attempt=attempt, idle_timeout_s=timeout_s)
                if claimed is None:
                    return Ran()
                work(claimed)
                rows.stage_delete(job_id=job_id, attempt=attempt)
            return Ran()

        def run_together(job_id: int, attempt: int, **_: object) -> Ran:
            batch = None
            try:
                with db.any_org_work():
                    batch = _lock(job, job_id, attempt, timeout_s)
                    if batch is None:
                        return Ran()
                    if len(batch.jobs) == 1:
                        work(batch.first)
                    else:
                        together(batch.jobs)  # type: ignore[misc]  # or `run` would have been registered
                    batches.stage_delete(batch.jobs)
            except Exception as error:
                if not alone.comes_after(job, batch, error):
                    raise
            else:
                return Ran(number=len(batch.jobs))
            return run(job_id, attempt)

        register_run(job, run if together is None else run_together)
        return work

    return register


def calling_job(
    job: Job,
    *,
    prepare: Callable[[rows.ClaimedJob], Prepared | None],
    call: Callable[[Prepared], Answer],
    record: Callable[[Prepared, Answer], datetime | None],
    why: Callable[[Prepared, Answer], str | None] = lambda prepared, answer: None,
    together: CallsTogether[Prepared, Answer] | None = None,
) -> None:
    """Register a job that calls somebody else's server, never inside a transaction.

    `prepare` (in a transaction) writes down the intent and returns what to send, or None when nothing is left to do.
    `call` talks to the outside. `record` (in a transaction) writes down the answer and returns when to try again,
    or None when the job is done. `why` returns what it waits for then, in words for operators. A process that dies in
    between leaves the row to be handed out again, once it has been silent for a while; a job that `keeps_lease` at the
    end of its lease.
    `together` prepares and records several, for a kind that says how many (`Job.together`).
    """

    _must_agree(job, together)

    steps = _Steps(prepare, call, record, why)

    def run_together(job_id: int, attempt: int, **_: object) -> Ran:
        assert together is not None
        batch = None
        try:
            with db.any_org_work():
                batch = _lock(job, job_id, attempt, None)
                if batch is None:
                    return Ran()
                wanted = _prepared(batch, prepare, together)
        except Exception as error:
            if not alone.comes_after(job, batch, error):
                raise
        else:
            if len(batch.jobs) == 1:
                for claimed, prepared in wanted:
                    steps.end(claimed, prepared)
                return Ran()
            called = calls.call_each(wanted, call, together)
            if called.is_mostly_uncalled:
                alone.note(job, batch)
            recorded = _record_together(job, called, steps, together)
            return Ran(number=len(batch.jobs) - len(wanted) + recorded)
        return steps.run(job_id, attempt)

    register_run(job, run_together if together else steps.run)


@dataclass(frozen=True, slots=True)
class _Steps(Generic[Prepared, Answer]):
    """The steps of a job that calls somebody else's server, as `calling_job` has them."""

    prepare: Callable[[rows.ClaimedJob], Prepared | None]
    call: Callable[[Prepared], Answer]
    record: Callable[[Prepared, Answer], datetime | None]
    why: Callable[[Prepared, Answer], str | None]

    def run(self, job_id: int, attempt: int, **_: object) -> Ran:
        """Do one job, if this attempt of it is still to be made."""
        with db.any_org_work():
            claimed = rows.lock(job_id=job_id, attempt=attempt)
            if claimed is None:
                return Ran()
            prepared = self.begin(claimed)
        self.end(claimed, prepared)
        return Ran()

    def begin(self, claimed: rows.ClaimedJob) -> Prepared | None:
        """Prepare one job in the transaction that locked it."""
        prepared = self.prepare(claimed)
        if prepared is None:
            rows.stage_delete(job_id=claimed.id, attempt=claimed.attempt)
        else:
            rows.stage_start(job_id=claimed.id, attempt=claimed.attempt, process_id=process.own_id())
        return prepared

    def end(self, claimed: rows.ClaimedJob, prepared: Prepared | None) -> None:
        """Make the call that was prepared, if one was, and record its answer."""
        if prepared is not None:
            self.end_answered(claimed, prepared, self.call(prepared))

    def end_answered(self, claimed: rows.ClaimedJob, prepared: Prepared, answer: Answer) -> None:
        """Record the answer to the call of one job, and whether that is done or waits for another attempt."""
        is_of_one = claimed.organization_id is not None
        with db.unit_of_work(claimed.tenant) if is_of_one else db.any_org_work():
            again_at = self.record(prepared, answer)
            if again_at is None:
                rows.stage_delete(job_id=claimed.id, attempt=claimed.attempt)
            else:
                why = self.why(prepared, answer)
                rows.stage_retry(job_id=claimed.id, attempt=claimed.attempt, at=again_at, why=why)


def _must_agree(job: Job, together: object) -> None:
    if (job.together > 1) != (together is not None):
        raise ValueError(f"{job.name}: how many are done together, and what does several, are said both or not at all")


def _lock(job: Job, job_id: int, attempt: int, timeout_s: int | None) -> Batch | None:
    return batches.lock(job=job, job_id=job_id, attempt=attempt, alone=alone.keys(job), idle_timeout_s=timeout_s)


def _prepared(
    batch: Batch,
    prepare: Callable[[rows.ClaimedJob], Prepared | None],
    together: CallsTogether[Prepared, Answer],
) -> list[tuple[rows.ClaimedJob, Prepared]]:
    prepared = [prepare(batch.first)] if len(batch.jobs) == 1 else together.prepare(batch.jobs)
    pairs = list(zip(batch.jobs, prepared, strict=True))
    wanted = [(claimed, found) for claimed, found in pairs if found is not None]
    batches.stage_delete([claimed for claimed, found in pairs if found is None])
    batches.stage_start(
        [claimed for claimed, _ in wanted],
        first_id=batch.first.id,
        process_id=process.own_id(),
        lease_s=settings.current().jobs.lease_s,
    )
    return wanted


def _record_together(
    job: Job,
    called: Called[Prepared, Answer],
    steps: _Steps[Prepared, Answer],
    together: CallsTogether[Prepared, Answer],
) -> int:
    """Record what came of the calls of a batch: of those that were made first, so that nothing else can lose it.

    Returns how many answers were recorded.
    """
    recorded = _record_answered(job, called, steps, together)
    if called.raised is not None:
        claimed, error = called.raised
        metrics.count_jobs(job.name, failing.put_down(job, claimed.id, claimed.attempt, error))
    if called.uncalled:
        with db.unit_of_work(called.uncalled[0][0].tenant):
            returned = batches.requeue_uncalled([claimed for claimed, _ in called.uncalled])
            if undone := [prepared for claimed, prepared in called.uncalled if claimed.id in returned]:
                together.give_back(undone)
    return recorded


def _record_answered(
    job: Job,
    called: Called[Prepared, Answer],
    steps: _Steps[Prepared, Answer],
    together: CallsTogether[Prepared, Answer],
) -> int:
    """Record answers together; where that fails for all, each by itself: they were given. Returns how many succeed."""
    recorded = len(called.answered)
    if len(called.answered) > 1:
        try:
            with db.unit_of_work(called.answered[0][0].tenant):
                again = together.record([(prepared, answer) for _, prepared, answer in called.answered])
                claimed_jobs = [claimed for claimed, _, _ in called.answered]
                whys = [steps.why(prepared, answer) for _, prepared, answer in called.answered]
                batches.stage_call_outcomes(list(zip(claimed_jobs, again, whys, strict=True)))
            return recorded
        except Exception as error:
            _log.warning("job.not_recorded_together", error=type(error).__name__)
    for claimed, prepared, answer in called.answered:
        try:
            steps.end_answered(claimed, prepared, answer)
        except Exception as error:
            recorded -= 1
            metrics.count_jobs(job.name, failing.put_down(job, claimed.id, claimed.attempt, error))
    return recorded


def register_run(job: Job, run: Run) -> None:
    """Register what runs a kind of job when it is told a job and an attempt; what it raises is written down."""

    def guarded(job_id: int, attempt: int, **more: object) -> None:
        started = time.monotonic()
        with (
            structlog.contextvars.bound_contextvars(job_id=job_id, job=job.name, attempt=attempt),
            spans.job(job.name, more.get("trace"), job_id=job_id, attempt=attempt) as span,
        ):
            ran = _ran(job, run, job_id, attempt, more)
            span.tell(outcome=ran.outcome, jobs=ran.number)
        _count(job, ran)
        metrics.time_job(job.name, time.monotonic() - started)

    dramatiq.actor(actor_name=job.name, queue_name=job.queue)(guarded)


def _count(job: Job, ran: Ran) -> None:
    metrics.count_jobs(job.name, ran.outcome, ran.number)
    if ran.outcome == "done":
        pace.done.count(job.queue, ran.number)


def _ran(job: Job, run: Run, job_id: int, attempt: int, more: dict[str, object]) -> Ran:
    try:
        try:
            return run(job_id, attempt, **more)
        except Exception as error:  # a deadlock, a statement that takes too long and a lost connection too
            return Ran(failing.put_down(job, job_id, attempt, error))
    except db.UNAVAILABLE as error:
        # Not even the failure can be written down; the lease runs out and the row is handed out again.
        _log.warning("job.database_unavailable", error=str(error).strip())
        return Ran("database_unavailable")
