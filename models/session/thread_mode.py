"""Per-thread transaction mode: read-write or read-only, at the primary or a replica, with commits recorded or not.

Positions are bytes of the primary's log. A commit lies before the position that the primary has afterwards, and a
replica that has replayed the log up to that position shows it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

#: Returns the primary's position; sent with a commit, it is how far a replica must be to show that commit.
PRIMARY_POSITION = "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"


@dataclass(slots=True)
class CommitRecord:
    """The commits of a thread since recording started: the last position, and the tenants that were written to."""

    position: int = 0
    tenants: set[UUID] = field(default_factory=set)


class _ThreadMode(threading.local):
    """`replica_position` is how far the replica must be that this thread reads at; None: it reads at the primary."""

    is_read_only = False
    replica_position: int | None = None
    organization_id: UUID | None = None
    commits: CommitRecord | None = None

    @property
    def is_recording(self) -> bool:
        """Whether the position of each commit is recorded."""
        return self.commits is not None and not self.is_read_only

    def record_commit(self, position: int) -> None:
        """Record a commit of the current organization."""
        assert self.commits is not None
        self.commits.position = max(self.commits.position, position)
        if self.organization_id is not None:
            self.commits.tenants.add(self.organization_id)


#: This thread's.
current = _ThreadMode()


@contextmanager
def recording_commits() -> Iterator[CommitRecord]:
    """Record what this thread commits in the block, without another round trip."""
    outer, current.commits = current.commits, CommitRecord()
    try:
        yield current.commits
    finally:
        current.commits = outer


@contextmanager
def read_only(position: int | None) -> Iterator[None]:
    """Make this thread's transactions read-only in the block; with a position, at a replica that has replayed it."""
    outer = current.is_read_only, current.replica_position
    current.is_read_only, current.replica_position = True, position
    try:
        yield
    finally:
        current.is_read_only, current.replica_position = outer


def position_check() -> str:
    """Return the SQL that fails on a replica that is behind the required position, empty at the primary."""
    position = current.replica_position
    if position is None:
        return ""
    return f"; select replica_stands_at('{position >> 32:X}/{position & 0xFFFFFFFF:X}')"
