"""What a thread's transactions are for: to do anything, or only to read, and where.

Positions are counted in bytes of the primary's log: what was committed lies before the position that the primary had
afterwards, and a replica that has replayed the log up to there shows it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

#: Sent with a commit, so that who wrote knows up to where a replica must be to show it. Answers a position.
POSITION = "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"


@dataclass(slots=True)
class CommitRecord:
    """What a thread has committed since it was asked to note it: up to which position, and for which tenants."""

    position: int = 0
    tenants: set[UUID] = field(default_factory=set)


class _Here(threading.local):
    """Whether this thread only reads, from which position on where that is at the replica, and what it notes."""

    is_reading = False
    position: int | None = None
    written: CommitRecord | None = None
    tenant: UUID | None = None

    @property
    def is_noting(self) -> bool:
        """Whether a commit is to be told apart from no commit."""
        return self.written is not None and not self.is_reading

    def note(self, position: int) -> None:
        """Keep what was just committed."""
        assert self.written is not None
        self.written.position = max(self.written.position, position)
        if self.tenant is not None:
            self.written.tenants.add(self.tenant)


thread_mode = _Here()


@contextmanager
def recording_commits() -> Iterator[CommitRecord]:
    """Note what this thread commits while the block runs, which costs the commits no round trip."""
    outer, thread_mode.written = thread_mode.written, CommitRecord()
    try:
        yield thread_mode.written
    finally:
        thread_mode.written = outer


@contextmanager
def only_reading(position: int | None) -> Iterator[None]:
    """Let this thread's transactions only read while the block runs; with a position, at a replica that is there."""
    outer = thread_mode.is_reading, thread_mode.position
    thread_mode.is_reading, thread_mode.position = True, position
    try:
        yield
    finally:
        thread_mode.is_reading, thread_mode.position = outer


def at_replica() -> str:
    """Return what a transaction begins with besides its tenant."""
    if thread_mode.position is None:
        return ""
    return f"; select replica_stands_at('{thread_mode.position >> 32:X}/{thread_mode.position & 0xFFFFFFFF:X}')"
