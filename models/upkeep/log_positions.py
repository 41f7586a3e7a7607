"""Log positions of the primary and the replica."""

from dataclasses import dataclass

from models.db import db
from models.session import thread_mode


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """The position up to which a replica has replayed the log, and the age of its last change in seconds."""

    position: int
    last_change_age_s: float


def any_org_read_primary() -> int:
    """Return the primary's position: everything committed before this call is before it. Budget: 1 statement."""
    row = db.row(thread_mode.PRIMARY_POSITION)
    assert row is not None
    return int(row[0])


def any_org_read_replica() -> ReplicaState | None:
    """Return the state of the replica that this thread reads from; None if it is no replica. Budget: 1 statement."""
    row = db.row("""
select pg_last_wal_replay_lsn() - '0/0'::pg_lsn,
       coalesce(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()), 0)
where pg_is_in_recovery()
""")
    return None if row is None else ReplicaState(int(row[0]), float(row[1]))
