"""Servers whose data is known to be complete: a restored server's is not until an operator confirms it."""

from datetime import datetime

from models.db import db

_KNOWN = "known server"


def is_known() -> bool:
    """Return whether this server cannot have lost any payment.

    Budget: 1 statement per connection; behind a pool each time, since its connections may lead to other servers.
    """
    if db.is_server_fact_known(_KNOWN):
        return True
    row = db.row("select from known_server where name = this_server()")
    if row is None:
        return False
    db.store_server_fact(_KNOWN)
    return True


def read_server_name() -> str:
    """Return the unique name of this server and its timeline. Budget: 1 statement."""
    row = db.row("select this_server()")
    assert row is not None
    return str(row[0])


def insert_known(*, by: str, restored_to: datetime) -> bool:
    """Record that this server's data was completed; False if it was known to be complete."""
    statement = """
insert into known_server (name, known_by, restored_to) values (this_server(), %s, %s) on conflict do nothing returning 1
"""
    return bool(db.run(statement, (by, restored_to)))


def find_restored_to() -> datetime | None:
    """Return the newest time to which this server's data was restored; None if it never was."""
    row = db.row("select max(restored_to) from known_server")
    return row[0] if row else None
