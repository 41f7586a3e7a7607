"""Writes clicks: reads batches from the stream, commits, then acknowledges. Any number of these processes may run.

Entries that were read and not acknowledged are delivered again, to this process or, after CLICK_CLAIM_S, to another; a
click that is written already stays as it is. An entry that this release cannot read is put back for an hour: a process
of a newer release may read it. While the database or the stream is unavailable it waits: only stored clicks are
acknowledged. After a full batch more are waiting: while the database writes it, the previous batch is acknowledged, and
the next one is read, parsed and scored as far as that needs no query.
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
from pipelines.clicks import clicks, unwritten_clicks
from workers import metrics

_log = structlog.get_logger(__name__)

# The row of an hour's paid clicks grows once per batch, however many of its clicks are in the batch.
_BATCH = 4_000
_WAIT_MS = 1_000
_CLAIM_EVERY_S = 15.0
# Splitting batches of at most this size does not help against a timeout.
_MIN_SPLIT = 100
# While the database or the stream is unavailable.
_RETRY_S = 0.5
# How long to wait for the lock of an organization whose clicks another transaction writes.
_LOCK_WAIT_MS = 2_000
# How long an unreadable entry waits for a release that can read it, and how soon it is claimed again. Processes that
# claim at equal intervals would always claim in the same order, so that a newer one might never be first.
_UNREADABLE_MS = 3_600_000
_PUT_BACK_MS = (1_000, 10_000)


class _ParsedEntry(NamedTuple):
    entry: StreamEntry
    click: RawClick


@dataclass(slots=True)
class _Batch:
    """Entries of the stream with their clicks by organization, and the unreadable entries with the error.

    `judged` are an organization's clicks scored by each other; an organization with a click that cannot be scored is
    left out.
    """

    entries: Sequence[StreamEntry] = ()
    clicks: defaultdict[str, list[_ParsedEntry]] = field(default_factory=lambda: defaultdict(list))
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
        self._acknowledgement: Future[None] | None = None

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Write until the process has to stop; read batches are finished first, if the database is available."""
        batch: _Batch | None = None
        is_unavailable = False
        while not should_stop() or (self._ahead is not None and not is_unavailable):
            try:
                batch = batch or self._next_batch()
                self._may_read_ahead = len(batch.entries) == _BATCH and not should_stop()
                done = self._write_all(batch)
                batch, is_unavailable = None, False
                self._acknowledge_in_background(done)
            except db.UNAVAILABLE as error:
                is_unavailable = True
                _log.warning("clicks.database_unavailable", error=str(error).strip())
                time.sleep(_RETRY_S)
            except RedisError as error:
                batch = None  # its entries are delivered again, and are written already then
                _log.warning("clicks.stream_unavailable", error=str(error).strip())
                time.sleep(_RETRY_S)
        self._reader.shutdown()
        self._leave()

    def run_once(self, *, idle_ms: int | None = None) -> int:
        """Write the entries in the stream, and those unacknowledged for `idle_ms`; return how many there were."""
        done, idle_ms = set[bytes](), self._idle_ms if idle_ms is None else idle_ms
        while entries := self._without_done(done, self._claim(idle_ms)) or self._intake.read(count=_BATCH, wait_ms=1):
            self.write(entries)
            done.update(entry.id for entry in entries)
        return len(done)

    @staticmethod
    def _without_done(done: set[bytes], entries: Sequence[StreamEntry]) -> list[StreamEntry]:
        """Return entries without those that this run has processed: they stay in the stream for now."""
        return [entry for entry in entries if entry.id not in done]

    def write(self, entries: Sequence[StreamEntry]) -> None:
        """Write a batch, one transaction per organization, then acknowledge it.

        A click that makes its transaction fail alone becomes a dead letter, and so does an entry that was unreadable
        for an hour. Clicks of an organization whose lock is held are not acknowledged, so that the others are written;
        they are delivered again after CLICK_CLAIM_S.
        """
        self._intake.acknowledge(self._write_all(_parse_batch(entries)))

    def _write_all(self, batch: _Batch) -> list[bytes]:
        """Write a batch and return the ids of the entries that can be acknowledged."""
        pending_ids: set[bytes] = set()
        self._unreadable = list(batch.unreadable)
        for organization_id, reads in batch.clicks.items():
            try:
                self._write(reads, batch.judged.get(organization_id))
            except db.UNAVAILABLE as error:
                if not db.is_timeout_or_deadlock(error):
                    raise
                _log.warning("clicks.held_up", organization_id=organization_id, error=str(error).strip())
                pending_ids.update(read.entry.id for read in reads)
        pending_ids.update(self._put_back_unreadable(self._unreadable))
        return [entry.id for entry in batch.entries if entry.id not in pending_ids]

    def _put_back_unreadable(self, unreadable: Sequence[tuple[StreamEntry, ValueError]]) -> list[bytes]:
        """Put back entries that this release cannot read, and return their ids; older ones become dead letters."""
        if not unreadable:
            return []
        too_old_ms = self._intake.now_ms() - _UNREADABLE_MS
        for entry, error in unreadable:
            if entry.sent_at_ms <= too_old_ms:
                self._write_dead_letter(entry, None, error)
        waiting = [entry.id for entry, _ in unreadable if entry.sent_at_ms > too_old_ms]
        if waiting:
            _log.warning("clicks.unreadable", number=len(waiting))
            retry_ms = random.randint(*_PUT_BACK_MS)  # noqa: S311  # it protects no secret
            self._intake.put_back(waiting, idle_ms=max(self._idle_ms - retry_ms, 0))
        return waiting

    def _acknowledge_in_background(self, done: Sequence[bytes]) -> None:
        """Acknowledge while the next batch is written. Raises RedisError where that failed for the batch before."""
        before, self._acknowledgement = self._acknowledgement, self._reader.submit(self._intake.acknowledge, done)
        if before is not None:
            before.result()

    def _next_batch(self) -> _Batch:
        ahead, self._ahead = self._ahead, None
        return _parse_batch(self._read()) if ahead is None else ahead.result()

    def _read_ahead(self) -> None:
        """Start reading the next batch if more entries wait. Called when this thread is about to wait for a commit.

        Earlier, both threads would compete for the interpreter, and delay each answer of the database.
        """
        if self._may_read_ahead and self._ahead is None:
            self._ahead = self._reader.submit(lambda: _parse_batch(self._read()))

    def _read(self) -> list[StreamEntry]:
        if time.monotonic() >= self._claim_due_at:
            claimed = self._claim(self._idle_ms)
            if claimed:
                return claimed
            self._claim_due_at = time.monotonic() + self._claim_every_s
        return self._intake.read(count=_BATCH, wait_ms=_WAIT_MS)

    def _claim(self, idle_ms: int) -> list[StreamEntry]:
        return self._intake.claim(count=_BATCH, idle_ms=idle_ms)

    def _write(self, batch: Sequence[_ParsedEntry], judged: Sequence[ScoredClick] | None = None) -> None:
        """Write clicks of one organization; if a batch fails write each half, down to the click at fault.

        A large batch that times out is split as well: it would time out each time it is delivered again.
        """
        organization_id = _uuid_from_text(batch[0].click.organization_id)
        if organization_id is None:
            self._without_unreadable(batch)
            return
        try:
            with db.unit_of_work(organization_id):
                raw = [read.click for read in batch]
                result = clicks.write(raw, clock.now(), wait_ms=_LOCK_WAIT_MS, judged=judged)
                self._read_ahead()
        except db.UNAVAILABLE as error:
            if len(batch) <= _MIN_SPLIT or not db.is_statement_timeout(error):
                raise
            self._write_halves(batch)
        except Exception as error:  # whatever the error is, the other clicks do not wait
            readable = self._without_unreadable(batch)
            if len(readable) < len(batch):
                if readable:
                    self._write(readable)
            elif len(batch) == 1:
                self._write_dead_letter(batch[0].entry, organization_id, error)
            else:
                self._write_halves(batch)
        else:
            metrics.count_clicks(new=result.new, duplicates=result.duplicates)

    def _without_unreadable(self, batch: Sequence[_ParsedEntry]) -> list[_ParsedEntry]:
        """Return clicks without those with a value that this release cannot read, which are added to the unreadable."""
        readable = []
        for read in batch:
            try:
                wire.check_forms(read.click)
            except ValueError as error:
                self._unreadable.append((read.entry, error))
            else:
                readable.append(read)
        return readable

    def _write_halves(self, batch: Sequence[_ParsedEntry]) -> None:
        for half in (batch[: len(batch) // 2], batch[len(batch) // 2 :]):
            self._write(half)

    def _write_dead_letter(self, entry: StreamEntry, organization_id: UUID | None, error: Exception) -> None:
        entry_id, why = entry.id.decode(), "".join(traceback.format_exception(error))
        _log.error("click.unreadable", entry=entry_id, error=type(error).__name__)
        with db.any_org_work():
            unwritten_clicks.stage_dead_letter(entry.sent, entry_id=entry_id, organization_id=organization_id, why=why)
        metrics.count_unreadable_click()

    def _leave(self) -> None:
        try:
            if self._acknowledgement is not None:
                self._acknowledgement.result()
            self._intake.leave()
        except RedisError as error:
            _log.warning("clicks.stream_unavailable", error=str(error).strip())


def _parse_batch(entries: Sequence[StreamEntry]) -> _Batch:
    batch = _Batch(entries)
    for entry in entries:
        try:
            click = wire.from_bytes(entry.sent)
        except ValueError as error:
            batch.unreadable.append((entry, error))
        else:
            batch.clicks[click.organization_id].append(_ParsedEntry(entry, click))
    for organization_id, reads in batch.clicks.items():
        with suppress(ValueError):  # writing them raises it again, and finds the click at fault
            batch.judged[organization_id] = scoring.score_batch(read.click for read in reads)
    return batch


def _uuid_from_text(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
