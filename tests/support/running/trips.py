"""Records the statements that a thread sends to the database."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from models import db

PAUSED = "select queue from queue_pause order by queue"


@contextmanager
def record_round_trips() -> Iterator[list[bytes]]:
    """Yield the list of this thread's round trips to the database while the block runs, one entry for each."""
    statements: list[bytes] = []
    thread_id = threading.get_ident()

    def record(trip: bytes) -> None:
        if threading.get_ident() == thread_id:
            statements.append(trip)

    db.db.trip_hooks.append(record)
    try:
        yield statements
    finally:
        db.db.trip_hooks.remove(record)


def paused_queues() -> list[str]:
    """Return the paused queues: rows of a small table without a tenant, which is emptied before every test."""
    with db.any_org_work():
        return [queue for (queue,) in db.db.run(PAUSED)]
