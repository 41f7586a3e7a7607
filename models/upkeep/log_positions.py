"""How far the primary and the replica are."""

from dataclasses import dataclass

from models.db import db
from models.session import thread_mode


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """Up to which position a replica has replayed the log, and how old the last change is that it has, in seconds."""

    position: int
    last_change_age_s: float


def any_org_read_primary() -> int:
    """Return the primary's position: what was committed before this was asked lies before it. Budget: 1 statement."""
    row = db.row(thread_mode.PRIMARY_POSITION)
    assert row is not None
    return int(row[0])


def any_org_read_replica() -> ReplicaState | None:
    """Return how far the replica is that this thread reads at; None where that server is none. Budget: 1 statement."""
    row = db.row("""
select pg_last_wal_replay_lsn() - '0/0'::pg_lsn,
       coalesce(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()), 0)
where pg_is_in_recovery()
""")
    return None if row is None else ReplicaState(int(row[0]), float(row[1]))
