"""Several calls to the outside by one thread: prepared in one transaction, made one by one, recorded in another."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from models import db
from models.jobs.rows import ClaimedJob

# So long may the calls of one batch take together before the rest is given back; the last may have begun just then.
_CALLS_S = 5.0

Prepared = TypeVar("Prepared")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class CallsTogether(Generic[Prepared, Answer]):
    """How several calls of one kind are prepared and recorded; `workers.actor.calling_job` says it for one.

    `prepare` (in one transaction of their organization) gets the jobs in the order in which they are due, two at least,
    and returns for each what to send, or None when nothing is left to do.
    They are called one after another for as long as `goes_on` says, of the last one with its answer and of the one that
    follows, that this may be called; and no longer than five seconds. The rest is given back uncalled, due at once, its
    attempt unused. Where that is the larger part, all go alone from then.
    `record` (in one transaction) gets those that were called with their answers, two at least, and returns for each
    when to try again, or None when it is done. Where it raises, each is recorded by itself.
    `give_back` (in a transaction that holds their rows) takes back what `prepare` wrote of those that were not called.
    """

    prepare: Callable[[Sequence[ClaimedJob]], Sequence[Prepared | None]]
    goes_on: Callable[[Prepared, Answer, Prepared], bool]
    record: Callable[[Sequence[tuple[Prepared, Answer]]], Sequence[datetime | None]]
    give_back: Callable[[Sequence[Prepared]], None]


@dataclass(slots=True)
class Called(Generic[Prepared, Answer]):
    """What came of the calls of a batch: the answers, the one that raised, and those that were not made."""

    answered: list[tuple[ClaimedJob, Prepared, Answer]] = field(default_factory=list)
    raised: tuple[ClaimedJob, Exception] | None = None
    uncalled: Sequence[tuple[ClaimedJob, Prepared]] = ()

    @property
    def is_mostly_uncalled(self) -> bool:
        """Whether taking these along was in vain."""
        return len(self.uncalled) > len(self.answered)


def is_so(organization_id: UUID, look: Callable[[], bool]) -> bool:
    """Say whether something is so in the database before the next call is made; nothing is while that is away.

    What `look` asks is a round trip of its own, and takes no other.
    """
    try:
        with db.read_only(), db.unit_of_work(organization_id):
            return look()
    except db.UNAVAILABLE:
        return False


def call_each(
    wanted: Sequence[tuple[ClaimedJob, Prepared]],
    call: Callable[[Prepared], Answer],
    together: CallsTogether[Prepared, Answer],
) -> Called[Prepared, Answer]:
    """Make the calls one after another, until one is answered badly, raises, or they have taken too long together."""
    called: Called[Prepared, Answer] = Called()
    until = time.monotonic() + _CALLS_S
    for place, (job, prepared) in enumerate(wanted, start=1):
        try:
            answer = call(prepared)
        except Exception as error:
            called.raised = (job, error)
        else:
            called.answered.append((job, prepared, answer))
            may_be_called = place < len(wanted) and time.monotonic() < until
            if may_be_called and together.goes_on(prepared, answer, wanted[place][1]):
                continue
        called.uncalled = wanted[place:]
        break
    return called
