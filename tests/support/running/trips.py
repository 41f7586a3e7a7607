"""What this thread sends to the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from models import db

PAUSED = "select queue from queue_pause order by queue"


@contextmanager
def trips() -> Iterator[list[bytes]]:
    """Give the list of what is sent meanwhile, round trip by round trip."""
    sent: list[bytes] = []
    db.db.trip_hooks.append(sent.append)
    try:
        yield sent
    finally:
        db.db.trip_hooks.remove(sent.append)


def paused_queues() -> list[str]:
    """Return what stands in a small table that belongs to no tenant and is emptied before every test, in order."""
    with db.any_org_work():
        return [queue for (queue,) in db.db.run(PAUSED)]
