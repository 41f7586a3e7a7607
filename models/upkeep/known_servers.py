"""Which servers' books are known to be whole: not those of one that was restored, until an operator says so."""

from datetime import datetime

from models.db import db

_KNOWN = "known server"


def is_known() -> bool:
    """Say whether nothing can have been forgotten here that was paid.

    Budget: 1 statement, once for each connection; each time behind a pool, whose connections may lead elsewhere.
    """
    if db.is_server_fact_known(_KNOWN):
        return True
    row = db.row("select from known_server where name = this_server()")
    if row is None:
        return False
    db.store_server_fact(_KNOWN)
    return True


def read_server_name() -> str:
    """Return what tells this server, on its timeline, from every other. Budget: 1 statement."""
    row = db.row("select this_server()")
    assert row is not None
    return str(row[0])


def insert_known(*, by: str, restored_to: datetime) -> bool:
    """Write down that this server's books were made whole; False where they were known to be."""
    statement = """
insert into known_server (name, known_by, restored_to) values (this_server(), %s, %s) on conflict do nothing returning 1
"""
    return bool(db.run(statement, (by, restored_to)))


def find_restored_to() -> datetime | None:
    """Return the newest time that this server's books were ever restored to; None where they never were."""
    row = db.row("select max(restored_to) from known_server")
    return row[0] if row else None
