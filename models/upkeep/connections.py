"""How many connections PostgreSQL has, which all processes share."""

from dataclasses import dataclass

from models.db import db


@dataclass(frozen=True, slots=True)
class ConnectionCounts:
    """Connections of clients that are there, of every database and login, and how many PostgreSQL lets in."""

    there: int
    allowed: int


def count() -> ConnectionCounts:
    """Return how many there are now. Budget: 1 statement."""
    row = db.row(
        "select coalesce(sum(numbackends), 0)::int, current_setting('max_connections')::int from pg_stat_database"
    )
    assert row is not None  # it is an aggregate
    return ConnectionCounts(*row)
