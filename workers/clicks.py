"""Writes clicks: reads batches from the stream, commits, then acknowledges. Any number of these processes may run.

What is read and not acknowledged comes again, to this process or, after CLICK_CLAIM_S, to another; a click that is
written already stays as it is. An entry that this release cannot read is given back for an hour: a process of a newer
release may read it. While the database or the stream is away it waits: nothing is acknowledged that is not kept. Behind
a full batch there are more: while the database writes this one, the one before is acknowledged, and the next is read,
taken apart and judged as far as that asks nobody.
"""

import os
import random
import socket
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

import structlog

from adapters import broker, clock
from adapters.broker import RedisError
from adapters.clicks import wire
from adapters.clicks.intake import Intake, StreamEntry
from domain.clicks import scoring
from domain.clicks.raw_click import RawClick
from domain.clicks.scoring import ScoredClick
from models import db, ids
from pipelines.clicks import clicks, letters
from workers import metrics

_log = structlog.get_logger(__name__)

# Of one hour a row of paid clicks grows once per batch, however many of them are its own.
_BATCH = 4_000
_WAIT_MS = 1_000
_CLAIM_EVERY_S = 15.0
# What so few clicks wait for is not that there are too many of them.
_FEW = 100
# While the database or the stream is away.
_AWAY_S = 0.5
# How long the others wait for an organization whose clicks somebody else is at work on.
_TURN_MS = 2_000
# For how long an entry that cannot be read waits for a release that can, and how soon it is claimed again. Processes
# that claim at equal intervals would always meet in one order, so that a newer one might never be first.
_FOR_OTHERS_MS = 3_600_000
_PUT_BACK_MS = (1_000, 10_000)


class _Read(NamedTuple):
    entry: StreamEntry
    click: RawClick


@dataclass(slots=True)
class _Batch:
    """Entries of the stream, and what is in them: clicks by organization, and what cannot be read, with why not.

    `judged` are an organization's clicks as they are by one another; one of whose clicks cannot be judged is not in it.
    """

    entries: Sequence[StreamEntry] = ()
    clicks: defaultdict[str, list[_Read]] = field(default_factory=lambda: defaultdict(list))
    judged: dict[str, list[ScoredClick]] = field(default_factory=dict)
    unreadable: list[tuple[StreamEntry, ValueError]] = field(default_factory=list)


class ClickConsumer:
    """The loop of one process."""

    def __init__(self, redis_url: str, *, claim_s: int) -> None:
        name = f"{socket.gethostname()}-{os.getpid()}-{ids.new_id().hex[-8:]}"
        self._intake = Intake(broker.client(redis_url), name)
        self._idle_ms = claim_s * 1_000
        self._claim_every_s = min(claim_s / 2, _CLAIM_EVERY_S)
        self._claim_due_at = 0.0
        # Entries of the current batch that cannot be read.
        self._unreadable: list[tuple[StreamEntry, ValueError]] = []
        self._reader = ThreadPoolExecutor(1, "next-clicks")
        self._ahead: Future[_Batch] | None = None
        self._may_read_ahead = False
        self._letting_go: Future[None] | None = None

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Write until told to stop; what is in hand is finished first, unless the database is away."""
        in_hand: _Batch | None = None
        is_away = False
        while not should_stop() or (self._ahead is not None and not is_away):
            try:
                in_hand = in_hand or self._next()
                self._may_read_ahead = len(in_hand.entries) == _BATCH and not should_stop()
                done = self._write_all(in_hand)
                in_hand, is_away = None, False
                self._let_go(done)
            except db.UNAVAILABLE as error:
                is_away = True
                _log.warning("clicks.database_unavailable", error=str(error).strip())
                time.sleep(_AWAY_S)
            except RedisError as error:
                in_hand = None  # they come again, and are known then
                _log.warning("clicks.stream_unavailable", error=str(error).strip())
                time.sleep(_AWAY_S)
        self._reader.shutdown()
        self._leave()

    def run_once(self, *, idle_ms: int | None = None) -> int:
        """Write what lies in the stream and what was left lying for `idle_ms`; returns how many entries that was."""
        done, idle_ms = set[bytes](), self._idle_ms if idle_ms is None else idle_ms
        while entries := self._not_in(done, self._claim(idle_ms)) or self._intake.read(count=_BATCH, wait_ms=1):
            self.write(entries)
            done.update(entry.id for entry in entries)
        return len(done)

    @staticmethod
    def _not_in(done: set[bytes], entries: Sequence[StreamEntry]) -> list[StreamEntry]:
        """Return entries without those that this run has met: they stay in the stream for now."""
        return [entry for entry in entries if entry.id not in done]

    def write(self, entries: Sequence[StreamEntry]) -> None:
        """Write a batch, one transaction per organization, then let go of it.

        What alone makes its transaction fail becomes a dead letter, and so does what nobody could read for an hour.
        Clicks of an organization that is held up stay in hand, so that the others' are written; they come again after
        CLICK_CLAIM_S.
        """
        self._intake.acknowledge(self._write_all(_taken_apart(entries)))

    def _write_all(self, batch: _Batch) -> list[bytes]:
        """Write a batch and return the ids of the entries that nobody needs any more."""
        left: set[bytes] = set()
        self._unreadable = list(batch.unreadable)
        for organization_id, reads in batch.clicks.items():
            try:
                self._write(reads, batch.judged.get(organization_id))
            except db.UNAVAILABLE as held_up:
                if not db.is_timeout_or_deadlock(held_up):
                    raise
                said = str(held_up).strip()
                _log.warning("clicks.held_up", organization_id=organization_id, error=said)
                left.update(read.entry.id for read in reads)
        left.update(self._put_back_unreadable(self._unreadable))
        return [entry.id for entry in batch.entries if entry.id not in left]

    def _put_back_unreadable(self, unreadable: Sequence[tuple[StreamEntry, ValueError]]) -> list[bytes]:
        """Give entries back that this release cannot read, and return their ids; older ones become dead letters."""
        if not unreadable:
            return []
        too_old_ms = self._intake.now_ms() - _FOR_OTHERS_MS
        for entry, error in unreadable:
            if entry.sent_at_ms <= too_old_ms:
                self._bury(entry, None, error)
        waiting = [entry.id for entry, _ in unreadable if entry.sent_at_ms > too_old_ms]
        if waiting:
            _log.warning("clicks.unreadable", number=len(waiting))
            again_ms = random.randint(*_PUT_BACK_MS)  # noqa: S311  # nothing is hidden behind it
            self._intake.put_back(waiting, idle_ms=max(self._idle_ms - again_ms, 0))
        return waiting

    def _let_go(self, done: Sequence[bytes]) -> None:
        """Acknowledge while the next batch is written. Raises RedisError where that failed for the batch before."""
        before, self._letting_go = self._letting_go, self._reader.submit(self._intake.acknowledge, done)
        if before is not None:
            before.result()

    def _next(self) -> _Batch:
        ahead, self._ahead = self._ahead, None
        return _taken_apart(self._read()) if ahead is None else ahead.result()

    def _read_ahead(self) -> None:
        """Begin to read the next batch where more wait. Called when this thread is about to wait for a commit.

        Before that both threads would want the interpreter, and each answer of the database would wait for it.
        """
        if self._may_read_ahead and self._ahead is None:
            self._ahead = self._reader.submit(lambda: _taken_apart(self._read()))

    def _read(self) -> list[StreamEntry]:
        if time.monotonic() >= self._claim_due_at:
            left = self._claim(self._idle_ms)
            if left:
                return left
            self._claim_due_at = time.monotonic() + self._claim_every_s
        return self._intake.read(count=_BATCH, wait_ms=_WAIT_MS)

    def _claim(self, idle_ms: int) -> list[StreamEntry]:
        return self._intake.claim(count=_BATCH, idle_ms=idle_ms)

    def _write(self, batch: Sequence[_Read], judged: Sequence[ScoredClick] | None = None) -> None:
        """Write clicks of one organization; of a batch that fails each half, down to the click that is at fault.

        So is a large one that takes too long, which would take as long each time it comes again.
        """
        organization_id = _uuid(batch[0].click.organization_id)
        if organization_id is None:
            self._without_unreadable(batch)
            return
        try:
            with db.unit_of_work(organization_id):
                raw = [read.click for read in batch]
                written = clicks.write(raw, clock.now(), wait_ms=_TURN_MS, judged=judged)
                self._read_ahead()
        except db.UNAVAILABLE as error:
            if len(batch) <= _FEW or not db.is_statement_timeout(error):
                raise
            self._write_halves(batch)
        except Exception as error:  # the others' clicks do not wait, no matter what it is
            readable = self._without_unreadable(batch)
            if len(readable) < len(batch):
                if readable:
                    self._write(readable)
            elif len(batch) == 1:
                self._bury(batch[0].entry, organization_id, error)
            else:
                self._write_halves(batch)
        else:
            metrics.count_clicks(new=written.new, duplicates=written.duplicates)

    def _without_unreadable(self, batch: Sequence[_Read]) -> list[_Read]:
        """Return clicks without those that have a value in a form that this release does not know, which are put by."""
        readable = []
        for read in batch:
            try:
                wire.check_forms(read.click)
            except ValueError as error:
                self._unreadable.append((read.entry, error))
            else:
                readable.append(read)
        return readable

    def _write_halves(self, batch: Sequence[_Read]) -> None:
        for half in (batch[: len(batch) // 2], batch[len(batch) // 2 :]):
            self._write(half)

    def _bury(self, entry: StreamEntry, organization_id: UUID | None, error: Exception) -> None:
        entry_id, why = entry.id.decode(), "".join(traceback.format_exception(error))
        _log.error("click.unreadable", entry=entry_id, error=type(error).__name__)
        with db.any_org_work():
            letters.bury(entry.sent, entry_id=entry_id, organization_id=organization_id, why=why)
        metrics.count_unreadable_click()

    def _leave(self) -> None:
        try:
            if self._letting_go is not None:
                self._letting_go.result()
            self._intake.leave()
        except RedisError as error:
            _log.warning("clicks.stream_unavailable", error=str(error).strip())


def _taken_apart(entries: Sequence[StreamEntry]) -> _Batch:
    batch = _Batch(entries)
    for entry in entries:
        try:
            click = wire.from_bytes(entry.sent)
        except ValueError as error:
            batch.unreadable.append((entry, error))
        else:
            batch.clicks[click.organization_id].append(_Read(entry, click))
    for organization_id, reads in batch.clicks.items():
        with suppress(ValueError):  # whoever writes them meets it again, and finds whose fault it is
            batch.judged[organization_id] = scoring.score_batch(read.click for read in reads)
    return batch


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
