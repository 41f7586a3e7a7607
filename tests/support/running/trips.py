"""What this thread sends to the database."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from models import db

PAUSED = "select queue from queue_pause order by queue"


@contextmanager
def record_round_trips() -> Iterator[list[bytes]]:
    """Give the list of what is sent meanwhile, round trip by round trip; what other threads send is not counted."""
    statements: list[bytes] = []
    mine = threading.get_ident()

    def keep(trip: bytes) -> None:
        if threading.get_ident() == mine:
            statements.append(trip)

    db.db.trip_hooks.append(keep)
    try:
        yield statements
    finally:
        db.db.trip_hooks.remove(keep)


def paused_queues() -> list[str]:
    """Return what stands in a small table that belongs to no tenant and is emptied before every test, in order."""
    with db.any_org_work():
        return [queue for (queue,) in db.db.run(PAUSED)]
