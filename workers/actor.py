"""Runs one job row: lock it, do the work, delete it, all in one transaction; or record why not.

A message is only a pointer (job id, attempt). A pointer whose row is gone, or has moved on to another attempt, is
dropped: the work is done, or another worker does it. So a message may come late, twice or never.

A worker that is behind batches more jobs of the same kind (`models.jobs.batches`), if the kind supports it.
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
from workers import failures, metrics, pace, process
from workers.batching import call_batches
from workers.batching.batch_pauses import batch_pauses
from workers.batching.call_batches import CallBatch, CallResults

_log = structlog.get_logger(__name__)

# A job's transaction may be idle for as long as its lease: after that another worker may take the row and its locks.
_SILENCE_BEYOND_LEASE_S = 1


Work = Callable[[rows.ClaimedJob], None]
WorkTogether = Callable[[Sequence[rows.ClaimedJob]], None]
Prepared = TypeVar("Prepared")
Answer = TypeVar("Answer")


def idle_timeout_s(lease_s: int) -> int:
    """Return for how many seconds a transaction of a job with this lease may be idle before it counts as frozen."""
    return lease_s + _SILENCE_BEYOND_LEASE_S


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a message: the outcome, and the number of jobs with that outcome."""

    outcome: str = "done"
    number: int = 1


Run = Callable[..., RunResult]


def database_job(job: Job, *, together: WorkTogether | None = None) -> Callable[[Work], Work]:
    """Register `work` as the function that runs `job`, wholly inside one transaction of the job's organization.

    `together` does several in one transaction, two at least, with the same result as `work` one after another in the
    order in which they are due; for a kind with a maximum number (`Job.batch_size`). If it raises, its transaction is
    rolled back, and `work` does the job that was dispatched.
    """
    timeout_s = None if job.lease_s is None else idle_timeout_s(job.lease_s)
    _check_batch_size(job, together)

    def register(work: Work) -> Work:
        def run(job_id: int, attempt: int, **_: object) -> RunResult:
            with db.any_org_work():
                claimed = rows.lock(job_id=job_id, attempt=attempt, idle_timeout_s=timeout_s)
                if claimed is None:
                    return RunResult()
                work(claimed)
                rows.stage_delete(job_id=job_id, attempt=attempt)
            return RunResult()

        def run_together(job_id: int, attempt: int, **_: object) -> RunResult:
            batch = None
            try:
                with db.any_org_work():
                    batch = _lock(job, job_id, attempt, timeout_s)
                    if batch is None:
                        return RunResult()
                    if len(batch.jobs) == 1:
                        work(batch.first)
                    else:
                        together(batch.jobs)  # type: ignore[misc]  # else `run` is registered
                    batches.stage_delete(batch.jobs)
            except Exception as error:
                if not batch_pauses.pause_after(job, batch, error):
                    raise
            else:
                return RunResult(number=len(batch.jobs))
            return run(job_id, attempt)

        register_run(job, run if together is None else run_together)
        return work

    return register


def register_calling_job(
    job: Job,
    *,
    prepare: Callable[[rows.ClaimedJob], Prepared | None],
    call: Callable[[Prepared], Answer],
    record: Callable[[Prepared, Answer], datetime | None],
    why: Callable[[Prepared, Answer], str | None] = lambda prepared, answer: None,
    together: CallBatch[Prepared, Answer] | None = None,
) -> None:
    """Register a job that calls another server, never inside a transaction.

    `prepare` (in a transaction) records the intent and returns the request, or None if nothing is left to do.
    `call` calls the server. `record` (in a transaction) records the answer and returns when to try again,
    or None if the job is done. `why` returns the reason for another attempt, for operators. If the process dies in
    between, the job is dispatched again once the process has been silent for a while; a job that `keeps_lease`, at the
    end of its lease.
    `together` prepares and records a batch, for a job with a batch size (`Job.batch_size`).
    """

    _check_batch_size(job, together)

    steps = _Steps(prepare, call, record, why)

    def run_together(job_id: int, attempt: int, **_: object) -> RunResult:
        assert together is not None
        batch = None
        try:
            with db.any_org_work():
                batch = _lock(job, job_id, attempt, None)
                if batch is None:
                    return RunResult()
                prepared_jobs = _prepare_batch(batch, prepare, together)
        except Exception as error:
            if not batch_pauses.pause_after(job, batch, error):
                raise
        else:
            if len(batch.jobs) == 1:
                for claimed, prepared in prepared_jobs:
                    steps.end(claimed, prepared)
                return RunResult()
            results = call_batches.make_calls(prepared_jobs, call, together)
            if results.is_mostly_uncalled:
                batch_pauses.pause(job, batch)
            recorded = _record_batch(job, results, steps, together)
            return RunResult(number=len(batch.jobs) - len(prepared_jobs) + recorded)
        return steps.run(job_id, attempt)

    register_run(job, run_together if together else steps.run)


@dataclass(frozen=True, slots=True)
class _Steps(Generic[Prepared, Answer]):
    """The steps of a job that calls another server, as `register_calling_job` describes them."""

    prepare: Callable[[rows.ClaimedJob], Prepared | None]
    call: Callable[[Prepared], Answer]
    record: Callable[[Prepared, Answer], datetime | None]
    why: Callable[[Prepared, Answer], str | None]

    def run(self, job_id: int, attempt: int, **_: object) -> RunResult:
        """Do one job, if this attempt of it is still due."""
        with db.any_org_work():
            claimed = rows.lock(job_id=job_id, attempt=attempt)
            if claimed is None:
                return RunResult()
            prepared = self.begin(claimed)
        self.end(claimed, prepared)
        return RunResult()

    def begin(self, claimed: rows.ClaimedJob) -> Prepared | None:
        """Prepare one job in the transaction that locked it."""
        prepared = self.prepare(claimed)
        if prepared is None:
            rows.stage_delete(job_id=claimed.id, attempt=claimed.attempt)
        else:
            rows.stage_start(job_id=claimed.id, attempt=claimed.attempt, process_id=process.current_id())
        return prepared

    def end(self, claimed: rows.ClaimedJob, prepared: Prepared | None) -> None:
        """Make the prepared call, if there is one, and record its answer."""
        if prepared is not None:
            self.record_answer(claimed, prepared, self.call(prepared))

    def record_answer(self, claimed: rows.ClaimedJob, prepared: Prepared, answer: Answer) -> None:
        """Record the answer to the call of one job, and whether it is done or waits for another attempt."""
        has_organization = claimed.organization_id is not None
        with db.unit_of_work(claimed.tenant) if has_organization else db.any_org_work():
            again_at = self.record(prepared, answer)
            if again_at is None:
                rows.stage_delete(job_id=claimed.id, attempt=claimed.attempt)
            else:
                why = self.why(prepared, answer)
                rows.stage_retry(job_id=claimed.id, attempt=claimed.attempt, at=again_at, why=why)


def _check_batch_size(job: Job, together: object) -> None:
    """Raise ValueError if a kind has a maximum number without the function for it, or the other way round."""
    if (job.batch_size > 1) != (together is not None):
        raise ValueError(f"{job.name}: Job.together above 1 needs the argument `together`, and the other way round")


def _lock(job: Job, job_id: int, attempt: int, timeout_s: int | None) -> Batch | None:
    alone = batch_pauses.paused_keys(job)
    return batches.lock(job=job, job_id=job_id, attempt=attempt, alone=alone, idle_timeout_s=timeout_s)


def _prepare_batch(
    batch: Batch,
    prepare: Callable[[rows.ClaimedJob], Prepared | None],
    together: CallBatch[Prepared, Answer],
) -> list[tuple[rows.ClaimedJob, Prepared]]:
    results = [prepare(batch.first)] if len(batch.jobs) == 1 else together.prepare(batch.jobs)
    pairs = list(zip(batch.jobs, results, strict=True))
    prepared_jobs = [(claimed, prepared) for claimed, prepared in pairs if prepared is not None]
    batches.stage_delete([claimed for claimed, prepared in pairs if prepared is None])
    batches.stage_start(
        [claimed for claimed, _ in prepared_jobs],
        first_id=batch.first.id,
        process_id=process.current_id(),
        lease_s=settings.current().jobs.lease_s,
    )
    return prepared_jobs


def _record_batch(
    job: Job,
    results: CallResults[Prepared, Answer],
    steps: _Steps[Prepared, Answer],
    together: CallBatch[Prepared, Answer],
) -> int:
    """Record the results of a batch of calls, and return how many answers were recorded.

    The answers are recorded first, so that no later error loses them.
    """
    recorded = _record_answers(job, results, steps, together)
    if results.raised is not None:
        claimed, error = results.raised
        metrics.count_jobs(job.name, failures.record_failure(job, claimed.id, claimed.attempt, error))
    if results.uncalled:
        with db.unit_of_work(results.uncalled[0][0].tenant):
            returned_ids = batches.requeue_uncalled([claimed for claimed, _ in results.uncalled])
            if unused := [prepared for claimed, prepared in results.uncalled if claimed.id in returned_ids]:
                together.give_back(unused)
    return recorded


def _record_answers(
    job: Job,
    results: CallResults[Prepared, Answer],
    steps: _Steps[Prepared, Answer],
    together: CallBatch[Prepared, Answer],
) -> int:
    """Record answers together, or each by itself if that fails. Return how many were recorded."""
    recorded = len(results.answered)
    if len(results.answered) > 1:
        try:
            with db.unit_of_work(results.answered[0][0].tenant):
                again = together.record([(prepared, answer) for _, prepared, answer in results.answered])
                claimed_jobs = [claimed for claimed, _, _ in results.answered]
                whys = [steps.why(prepared, answer) for _, prepared, answer in results.answered]
                batches.stage_call_outcomes(list(zip(claimed_jobs, again, whys, strict=True)))
            return recorded
        except Exception as error:
            _log.warning("job.not_recorded_together", error=type(error).__name__)
    for claimed, prepared, answer in results.answered:
        try:
            steps.record_answer(claimed, prepared, answer)
        except Exception as error:
            recorded -= 1
            metrics.count_jobs(job.name, failures.record_failure(job, claimed.id, claimed.attempt, error))
    return recorded


def register_run(job: Job, run: Run) -> None:
    """Register the function that runs a kind of job for an id and an attempt. Errors that it raises are recorded."""

    def run_guarded(job_id: int, attempt: int, **more: object) -> None:
        started = time.monotonic()
        with (
            structlog.contextvars.bound_contextvars(job_id=job_id, job=job.name, attempt=attempt),
            spans.job(job.name, more.get("trace"), job_id=job_id, attempt=attempt) as span,
        ):
            result = _run(job, run, job_id, attempt, more)
            span.set_attributes(outcome=result.outcome, jobs=result.number)
        _count(job, result)
        metrics.time_job(job.name, time.monotonic() - started)

    dramatiq.actor(actor_name=job.name, queue_name=job.queue)(run_guarded)


def _count(job: Job, result: RunResult) -> None:
    metrics.count_jobs(job.name, result.outcome, result.number)
    if result.outcome == "done":
        pace.completed.count(job.queue, result.number)


def _run(job: Job, run: Run, job_id: int, attempt: int, more: dict[str, object]) -> RunResult:
    try:
        try:
            return run(job_id, attempt, **more)
        except Exception as error:  # a deadlock, a statement that takes too long and a lost connection too
            return RunResult(failures.record_failure(job, job_id, attempt, error))
    except db.UNAVAILABLE as error:
        # Not even the failure can be recorded; the lease ends and the job is dispatched again.
        _log.warning("job.database_unavailable", error=str(error).strip())
        return RunResult("database_unavailable")
