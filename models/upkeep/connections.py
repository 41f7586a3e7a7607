"""The number of PostgreSQL connections, over all processes."""

from dataclasses import dataclass

from models.db import db


@dataclass(frozen=True, slots=True)
class ConnectionCounts:
    """Open client connections, of every database and login, and the maximum that PostgreSQL allows."""

    open: int
    allowed: int


def count() -> ConnectionCounts:
    """Return the current counts. Budget: 1 statement."""
    row = db.row(
        "select coalesce(sum(numbackends), 0)::int, current_setting('max_connections')::int from pg_stat_database"
    )
    assert row is not None  # it is an aggregate
    return ConnectionCounts(*row)
