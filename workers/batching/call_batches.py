"""Several calls to other servers by one thread: prepared in one transaction, made one by one, recorded in another."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from models import db
from models.jobs.rows import ClaimedJob

# The calls of one batch may take this long together; the rest is then given back. The last may have begun just before.
_CALLS_S = 5.0

Prepared = TypeVar("Prepared")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class CallBatch(Generic[Prepared, Answer]):
    """How several calls of one kind are prepared and recorded; `workers.actor.register_calling_job` describes one.

    `prepare` (in one transaction of their organization) gets the jobs in the order in which they are due, two at least,
    and returns for each what to send, or None if nothing is left to do.
    The calls are made one after another for as long as `may_continue` returns True for the last call, its answer and
    the next call, and for no longer than five seconds. The others are given back without a call, due at once and with
    their attempt unused. If those are the larger part, the jobs run singly for a while.
    `record` (in one transaction) gets the calls that were made with their answers, two at least, and returns for each
    when to try again, or None if it is done. If it raises, each is recorded by itself.
    `give_back` (in a transaction that holds their rows) undoes what `prepare` wrote for the calls that were not made.
    """

    prepare: Callable[[Sequence[ClaimedJob]], Sequence[Prepared | None]]
    may_continue: Callable[[Prepared, Answer, Prepared], bool]
    record: Callable[[Sequence[tuple[Prepared, Answer]]], Sequence[datetime | None]]
    give_back: Callable[[Sequence[Prepared]], None]


@dataclass(slots=True)
class CallResults(Generic[Prepared, Answer]):
    """The results of a batch of calls: the answers, the call that raised, and the calls that were not made."""

    answered: list[tuple[ClaimedJob, Prepared, Answer]] = field(default_factory=list)
    raised: tuple[ClaimedJob, Exception] | None = None
    uncalled: Sequence[tuple[ClaimedJob, Prepared]] = ()

    @property
    def is_mostly_uncalled(self) -> bool:
        """Return whether fewer calls were made than not."""
        return len(self.uncalled) > len(self.answered)


def is_still_true(organization_id: UUID, check: Callable[[], bool]) -> bool:
    """Return whether `check` is true in the database before the next call; False while that is unavailable.

    The statement of `check` is a round trip of its own, and the only one.
    """
    try:
        with db.read_only(), db.unit_of_work(organization_id):
            return check()
    except db.UNAVAILABLE:
        return False


def make_calls(
    prepared_jobs: Sequence[tuple[ClaimedJob, Prepared]],
    call: Callable[[Prepared], Answer],
    batch: CallBatch[Prepared, Answer],
) -> CallResults[Prepared, Answer]:
    """Make the calls one after another, until an answer is bad, a call raises, or their time together is over."""
    results: CallResults[Prepared, Answer] = CallResults()
    until = time.monotonic() + _CALLS_S
    for place, (job, prepared) in enumerate(prepared_jobs, start=1):
        try:
            answer = call(prepared)
        except Exception as error:
            results.raised = (job, error)
        else:
            results.answered.append((job, prepared, answer))
            has_next = place < len(prepared_jobs) and time.monotonic() < until
            if has_next and batch.may_continue(prepared, answer, prepared_jobs[place][1]):
                continue
        results.uncalled = prepared_jobs[place:]
        break
    return results
